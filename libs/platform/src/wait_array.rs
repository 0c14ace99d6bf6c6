//! A table of slots on which waiters of all locks wait apart from each other.
//!
//! A lock without a queue can still give each waiter a word of its own. The waiter chooses a slot
//! by the lock and its ticket, and a thread that advances the lock changes that slot. Two waiters
//! in the same slot wake each other needlessly, which costs only time. The idea is that of the
//! waiting array of Dice and Kogan (TWA, Euro-Par 2019).

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
    /// Returns a table over the given slots.
    ///
    /// # Panics
    /// If there is no slot.
    #[inline]
    #[must_use]
    pub const fn new(slots: &'static [Padded<P::U32>]) -> Self {
        assert!(!slots.is_empty());
        Self { slots }
    }

    /// Returns all slots, for a platform that wraps another one.
    #[must_use]
    pub const fn slots(&self) -> &'static [Padded<P::U32>] {
        self.slots
    }

    /// Returns the slot of `ticket` at the lock with the given [key](Platform::address_key).
    ///
    /// Successive tickets of a lock get successive slots. So the waiters of one lock never share a
    /// slot as long as there are no more of them than slots.
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
