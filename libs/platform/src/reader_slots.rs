//! A table in which readers say what they read, so that they need not write to a lock for it.
//!
//! A reader that enters names the lock in a slot, and clears the slot as it leaves. Readers on
//! different cores mostly write different cache lines. A writer looks through all slots. The idea is
//! that of Dice and Kogan (BRAVO, USENIX ATC 2019).

use core::fmt;

use crate::Platform;

/// How many slots a machine's table should have: enough that 1,024 readers rarely meet, and so few
/// that a writer can look through all. A checker takes far fewer, so that readers do meet.
pub const READER_SLOTS: usize = 4096;

/// The slots. One table serves all locks of a machine.
pub struct ReaderSlots<P: Platform> {
    slots: &'static [P::Usize],
}

impl<P: Platform> ReaderSlots<P> {
    /// Returns a table over the given slots.
    ///
    /// # Panics
    /// If there is no slot.
    #[inline]
    #[must_use]
    pub const fn new(slots: &'static [P::Usize]) -> Self {
        assert!(!slots.is_empty());
        Self { slots }
    }

    /// Returns all slots.
    ///
    /// # Safety
    /// Locks rely on what stands in a slot. The caller changes only a slot that is free by the rules that
    /// all locks share, or one that has a content which the caller's own lock has put there. A slot of 0
    /// is free.
    #[inline]
    #[must_use]
    pub const unsafe fn slots(&self) -> &'static [P::Usize] {
        self.slots
    }

    /// Returns how many slots there are. There is at least one.
    #[inline]
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the number of the slot of the thread with key [`thread`](Platform::thread_key) at the
    /// lock with the given [key](Platform::address_key). Threads and locks are spread over the whole
    /// table by a multiplicative hash.
    #[inline]
    #[must_use]
    pub const fn number(&self, key: usize, thread: usize) -> usize {
        const ODD: u64 = 0x9E37_79B9_7F4A_7C15;
        let mixed = (key as u64 ^ (thread as u64).wrapping_mul(ODD)).wrapping_mul(ODD);
        (mixed >> 40) as usize % self.slots.len()
    }
}

impl<P: Platform> fmt::Debug for ReaderSlots<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReaderSlots").field("slots", &self.slots.len()).finish()
    }
}
