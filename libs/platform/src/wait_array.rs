//! A table of slots on which waiters of all locks wait apart from each other.
//!
//! A lock that keeps no queue can still give each waiter a word of its own: the waiter picks a
//! slot by the lock and its ticket, and whoever moves the lock on changes that slot. Two
//! waiters that meet in a slot wake each other for nothing, which costs time and no more. The
//! idea is that of the waiting array of Dice and Kogan (TWA, Euro-Par 2019).

use core::fmt;

use crate::{Padded, Platform};

/// How many slots a machine's table should have: enough that 1,024 waiters rarely meet. A
/// checker takes far fewer, so that waiters do meet.
pub const WAIT_SLOTS: usize = 4096;

/// The slots. One table serves all locks of a machine.
pub struct WaitArray<P: Platform> {
    slots: &'static [Padded<P::U32>],
}

impl<P: Platform> WaitArray<P> {
    /// A table over the given slots.
    ///
    /// # Panics
    /// If there is no slot.
    #[inline]
    #[must_use]
    pub const fn new(slots: &'static [Padded<P::U32>]) -> Self {
        assert!(!slots.is_empty());
        Self { slots }
    }

    /// All the slots, for a platform that wraps another one.
    #[must_use]
    pub const fn slots(&self) -> &'static [Padded<P::U32>] {
        self.slots
    }

    /// The slot of `ticket` at the lock with the given [key](Platform::address_key).
    ///
    /// Successive tickets of a lock get successive slots, so that as many waiters of one lock as
    /// there are slots never meet.
    #[inline]
    #[must_use]
    pub fn slot(&self, key: usize, ticket: u32) -> &'static P::U32 {
        // A multiplicative hash spreads locks that lie side by side over the whole table.
        let start = ((key as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize;
        &self.slots[start.wrapping_add(ticket as usize) % self.slots.len()]
    }
}

impl<P: Platform> fmt::Debug for WaitArray<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WaitArray").field("slots", &self.slots.len()).finish()
    }
}
