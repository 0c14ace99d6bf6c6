//! A list of entries in an array: the newest is at one end, the oldest at the other.
//!
//! The lists of a kernel link the frames' own structures, so each step touches a line of the frame. Here
//! a line has sixteen entries, and no step touches the frame or anything that belongs to it.

use alloc::boxed::Box;
use alloc::collections::TryReserveError;

use kilocore_platform::{Atomic, Ordering, Platform, SharedCell};

use crate::core_lock::CoreLock;
use crate::frame::Entry;
use crate::tables::table;
use crate::try_lock::{Held, TryLock};

/// A ring behind a lock.
pub(crate) struct Ring<P: Platform, L = TryLock<P>> {
    lock: L,
    /// How many entries there are. The holder writes it, and others may look.
    len: P::U32,
    /// The slot of the oldest entry.
    oldest: P::Cell<u32>,
    /// A power of two, less one.
    mask: u32,
    slots: Box<[P::Cell<Entry>]>,
}

/// A ring whose lock the caller holds.
pub(crate) struct HeldRing<'a, P: Platform, L = TryLock<P>> {
    ring: &'a Ring<P, L>,
    oldest: u32,
    len: u32,
    _lock: Held<'a, P>,
}

impl<P: Platform, L> Ring<P, L> {
    /// Returns an empty ring with room for at least so many entries, behind a lock.
    pub(crate) fn new(room: u32, lock: L) -> Self {
        Self::try_new(room, lock).expect("memory for the list")
    }

    /// Does the same, unless there is no memory for it.
    pub(crate) fn try_new(room: u32, lock: L) -> Result<Self, TryReserveError> {
        let slots = room.max(1).next_power_of_two();
        Ok(Self {
            lock,
            len: P::U32::new(0),
            oldest: P::Cell::new(0),
            mask: slots - 1,
            slots: table(slots, |_| Ok(P::Cell::new(Entry::NONE)))?,
        })
    }

    /// Returns how many entries there are. While somebody holds the ring it is a hint.
    pub(crate) fn len(&self) -> u32 {
        self.len.load(Ordering::Relaxed) // Relaxed: a hint.
    }

    /// Calls `look` with each entry. Nobody may hold the ring.
    pub(crate) fn for_each(&mut self, mut look: impl FnMut(Entry)) {
        // SAFETY: nobody else uses the ring while the caller has it for itself.
        let oldest = self.oldest.with(|oldest| unsafe { *oldest });
        for at in 0..self.len() {
            // SAFETY: as above.
            look(self.slot(oldest.wrapping_add(at)).with(|entry| unsafe { *entry }));
        }
    }

    #[inline(always)]
    fn slot(&self, at: u32) -> &P::Cell<Entry> {
        let slot = (at & self.mask) as usize;
        // SAFETY: there are `mask + 1` slots, so a masked number is that of a slot.
        unsafe { self.slots.get_unchecked(slot) }
    }

    #[inline(always)]
    fn held<'a>(&'a self, lock: Held<'a, P>) -> HeldRing<'a, P, L> {
        // Relaxed: the lock orders it.
        let len = self.len.load(Ordering::Relaxed);
        // SAFETY: the lock is held, and whoever writes this holds it.
        let oldest = self.oldest.with(|oldest| unsafe { *oldest });
        HeldRing { ring: self, oldest, len, _lock: lock }
    }
}

impl<P: Platform> Ring<P> {
    /// Acquires the ring, unless somebody has it.
    #[inline(always)]
    pub(crate) fn attempt(&self) -> Option<HeldRing<'_, P>> {
        Some(self.held(self.lock.attempt()?))
    }

    /// Acquires the ring, and waits for its holder if it has one.
    pub(crate) fn acquire(&self) -> HeldRing<'_, P> {
        self.held(self.lock.acquire())
    }

    /// Returns whether the ring has no entry and nobody holds it.
    pub(crate) fn is_idle_and_empty(&self) -> bool {
        // In this order, as below.
        self.lock.is_free() && self.len() == 0
    }
}

impl<P: Platform> Ring<P, CoreLock<P>> {
    /// Acquires the ring, unless somebody has it. This suits threads that run on its core.
    #[inline(always)]
    pub(crate) fn attempt_at_home(&self) -> Option<HeldRing<'_, P, CoreLock<P>>> {
        Some(self.held(self.lock.attempt_at_home()?))
    }

    /// Acquires the ring, unless somebody has it. This suits threads that run elsewhere.
    pub(crate) fn attempt_from_afar(&self) -> Option<HeldRing<'_, P, CoreLock<P>>> {
        Some(self.held(self.lock.attempt_from_afar()?))
    }

    /// Returns whether nobody holds the ring now.
    pub(crate) fn is_free(&self) -> bool {
        self.lock.is_free()
    }

    /// Returns whether threads that run elsewhere acquire the ring as cheaply as those at home.
    pub(crate) fn is_cheap_from_afar(&self) -> bool {
        self.lock.is_cheap_from_afar()
    }

    /// Returns whether the ring has no entry and nobody holds it.
    pub(crate) fn is_idle_and_empty(&self) -> bool {
        // In this order: the length is then what the last holder has left, or a later one. In the other order,
        // somebody could put entries there in between.
        self.is_free() && self.len() == 0
    }
}

impl<P: Platform, L> HeldRing<'_, P, L> {
    #[inline(always)]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// Returns whether this is such a ring, held.
    pub(crate) fn is_of(&self, ring: &Ring<P, L>) -> bool {
        core::ptr::eq(self.ring, ring)
    }

    /// Returns for how many more entries there is room.
    #[inline(always)]
    pub(crate) fn room(&self) -> u32 {
        self.ring.mask + 1 - self.len
    }

    /// Adds an entry as the newest.
    ///
    /// # Panics
    /// In debug builds, if there is no room.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Entry) {
        debug_assert!(self.room() > 0, "the ring is full");
        self.write(self.oldest.wrapping_add(self.len), entry);
        self.set_len(self.len + 1);
    }

    /// Adds an entry as the oldest.
    ///
    /// # Panics
    /// In debug builds, if there is no room.
    pub(crate) fn push_oldest(&mut self, entry: Entry) {
        debug_assert!(self.room() > 0, "the ring is full");
        self.set_oldest(self.oldest.wrapping_sub(1));
        self.write(self.oldest, entry);
        self.set_len(self.len + 1);
    }

    /// Takes the newest entry.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Entry> {
        self.set_len(self.len.checked_sub(1)?);
        Some(self.read(self.oldest.wrapping_add(self.len)))
    }

    /// Takes the oldest entry.
    pub(crate) fn pop_oldest(&mut self) -> Option<Entry> {
        self.set_len(self.len.checked_sub(1)?);
        let entry = self.read(self.oldest);
        self.set_oldest(self.oldest.wrapping_add(1));
        Some(entry)
    }

    #[inline(always)]
    fn set_len(&mut self, len: u32) {
        self.len = len;
        self.ring.len.store(len, Ordering::Relaxed); // Relaxed: the lock orders it.
    }

    #[inline(always)]
    fn set_oldest(&mut self, oldest: u32) {
        self.oldest = oldest;
        // SAFETY: the lock is held, and nobody uses this without it.
        self.ring.oldest.with_mut(|place| unsafe { *place = oldest });
    }

    #[inline(always)]
    fn read(&self, at: u32) -> Entry {
        // SAFETY: the lock is held, and nobody uses the slots without it.
        self.ring.slot(at).with(|entry| unsafe { *entry })
    }

    #[inline(always)]
    fn write(&mut self, at: u32, entry: Entry) {
        // SAFETY: as in `read`.
        self.ring.slot(at).with_mut(|slot| unsafe { *slot = entry });
    }
}
