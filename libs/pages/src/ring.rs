//! A list of entries in an array: the newest is at one end, the oldest at the other.
//!
//! The lists of a kernel link the frames' own structures, so each step touches a line of the frame. Here
//! a line has sixteen entries, and no step touches the frame or anything that belongs to it.

use alloc::boxed::Box;

use kilocore_platform::{Platform, SharedCell};

use crate::frame::Entry;
use crate::try_lock::{Held, TryLock};

/// Where the entries are.
#[derive(Debug, Clone, Copy)]
struct Extent {
    /// The slot of the oldest entry.
    oldest: u32,
    len: u32,
}

/// A ring behind a lock.
pub(crate) struct Ring<P: Platform> {
    lock: TryLock<P>,
    extent: P::Cell<Extent>,
    /// A power of two, less one.
    mask: u32,
    slots: Box<[P::Cell<Entry>]>,
}

/// A ring whose lock the caller holds.
pub(crate) struct HeldRing<'a, P: Platform> {
    ring: &'a Ring<P>,
    extent: Extent,
    _lock: Held<'a, P>,
}

impl<P: Platform> Ring<P> {
    /// Returns an empty ring with room for at least so many entries.
    pub(crate) fn new(room: u32) -> Self {
        let slots = room.max(1).next_power_of_two();
        Self {
            lock: TryLock::new(),
            extent: P::Cell::new(Extent { oldest: 0, len: 0 }),
            mask: slots - 1,
            slots: (0..slots).map(|_| P::Cell::new(Entry::NONE)).collect(),
        }
    }

    /// Acquires the ring, unless somebody has it.
    #[inline(always)]
    pub(crate) fn attempt(&self) -> Option<HeldRing<'_, P>> {
        let lock = self.lock.attempt()?;
        // SAFETY: the lock is held, and whoever writes the extent holds it.
        let extent = self.extent.with(|extent| unsafe { *extent });
        Some(HeldRing { ring: self, extent, _lock: lock })
    }
}

impl<P: Platform> HeldRing<'_, P> {
    #[inline(always)]
    pub(crate) fn len(&self) -> u32 {
        self.extent.len
    }

    /// Returns for how many more entries there is room.
    #[inline(always)]
    pub(crate) fn room(&self) -> u32 {
        self.ring.mask + 1 - self.extent.len
    }

    /// Adds an entry as the newest.
    ///
    /// # Panics
    /// In debug builds, if there is no room.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Entry) {
        debug_assert!(self.room() > 0, "the ring is full");
        self.write(self.extent.oldest.wrapping_add(self.extent.len), entry);
        self.set(Extent { len: self.extent.len + 1, ..self.extent });
    }

    /// Adds an entry as the oldest.
    ///
    /// # Panics
    /// In debug builds, if there is no room.
    pub(crate) fn push_oldest(&mut self, entry: Entry) {
        debug_assert!(self.room() > 0, "the ring is full");
        let oldest = self.extent.oldest.wrapping_sub(1);
        self.write(oldest, entry);
        self.set(Extent { oldest, len: self.extent.len + 1 });
    }

    /// Takes the newest entry.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        let len = self.extent.len.checked_sub(1)?;
        self.set(Extent { len, ..self.extent });
        Some(self.read(self.extent.oldest.wrapping_add(len)))
    }

    /// Takes the oldest entry.
    pub(crate) fn pop_oldest(&mut self) -> Option<Entry> {
        let len = self.extent.len.checked_sub(1)?;
        let oldest = self.extent.oldest;
        self.set(Extent { oldest: oldest.wrapping_add(1), len });
        Some(self.read(oldest))
    }

    /// Calls `look` with each entry.
    pub(crate) fn for_each(&self, mut look: impl FnMut(Entry)) {
        for at in 0..self.extent.len {
            look(self.read(self.extent.oldest.wrapping_add(at)));
        }
    }

    #[inline(always)]
    fn set(&mut self, extent: Extent) {
        self.extent = extent;
        // SAFETY: the lock is held, and nobody uses the extent without it.
        self.ring.extent.with_mut(|place| unsafe { *place = extent });
    }

    #[inline(always)]
    fn slot(&self, at: u32) -> &P::Cell<Entry> {
        let slot = (at & self.ring.mask) as usize;
        // SAFETY: there are `mask + 1` slots, so a masked number is that of a slot.
        unsafe { self.ring.slots.get_unchecked(slot) }
    }

    #[inline(always)]
    fn read(&self, at: u32) -> Entry {
        // SAFETY: the lock is held, and nobody uses the slots without it.
        self.slot(at).with(|entry| unsafe { *entry })
    }

    #[inline(always)]
    fn write(&mut self, at: u32, entry: Entry) {
        // SAFETY: as in `read`.
        self.slot(at).with_mut(|slot| unsafe { *slot = entry });
    }
}
