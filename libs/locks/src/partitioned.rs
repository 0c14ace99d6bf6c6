//! The partitioned ticket lock: ticket numbers are called on several cache lines in turn.
//!
//! This is a ticket lock whose waiters are spread over an array of words. The waiter with number
//! *n* watches the word with index *n* modulo the length of the array. A release writes the next
//! number to the word that its owner watches. So it disturbs only the waiters that share this word:
//! only one if the array is as long as there are waiters (Dice, 'Brief announcement: a partitioned
//! ticket lock', SPAA 2011).
//!
//! # Where it departs from the paper
//! The array does not fit into the two words of a lock. It is the body of an
//! [`Inflatable`](crate::Inflatable), which exists only while a thread waits. The holder's number
//! is stored beside the array, so that any thread can release.

use core::fmt;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};

use crate::large::{Body, LargeLock};
use crate::{Inflatable, LockInfo, Waiting};

/// A partitioned ticket lock.
pub type Partitioned<P> = Inflatable<P, Grants<P, 16>>;

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "partitioned",
    title: "partitioned ticket lock: numbers are called on sixteen lines",
    source: "Dice, SPAA 2011",
    best_at: "a moderate number of contending cores, no more threads than cores; fair",
    worst_at: "more threads than cores; many more waiters than lines",
    waiting: Waiting::SpinInQueue,
    aliases: &[],
};

/// A ticket lock whose numbers are called on `SLOTS` cache lines. `SLOTS` is a power of two.
pub struct Grants<P: Platform, const SLOTS: usize> {
    /// The next number to be taken.
    next: Padded<P::U32>,
    holder: Padded<Holder<P>>,
    /// For each line, the number that was last called there.
    called: [Padded<P::U32>; SLOTS],
}

/// The data that only holders access.
struct Holder<P: Platform> {
    /// The number that the present holder has drawn.
    number: P::U32,
    departures: P::U64,
}

impl<P: Platform, const SLOTS: usize> Grants<P, SLOTS> {
    /// Returns the line on which `number` is called. Under a checker there are two lines, so that
    /// waiters share them.
    #[inline]
    fn line(&self, number: u32) -> &P::U32 {
        const { assert!(SLOTS.is_power_of_two() && SLOTS > 1) };
        let lines = if P::CHECKED { 2 } else { SLOTS };
        &self.called[number as usize % lines]
    }
}

// SAFETY: each number is taken once and called once. It is called by the store with release that
// ends the critical section before it; the next holder reads that store with acquire. The store is
// the last access of a release.
unsafe impl<P: Platform, const SLOTS: usize> LargeLock<P> for Grants<P, SLOTS> {
    type Thread = ();

    fn new() -> Self {
        Self {
            next: Padded(P::U32::new(0)),
            holder: Padded(Holder { number: P::U32::new(0), departures: P::U64::new(0) }),
            // Number 0 is called. On the other lines, no thread waits for number 0.
            called: core::array::from_fn(|_| Padded(P::U32::new(0))),
        }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        // Relaxed: taking the number orders nothing. The acquire load that sees it called does.
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        P::wait_until(self.line(mine), Wait::Spin, |called| called == mine);
        self.holder.number.store(mine, Ordering::Relaxed);
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        let next = self.holder.number.load(Ordering::Relaxed).wrapping_add(1);
        self.line(next).store(next, Ordering::Release);
    }
}

// SAFETY: it is a word of its own, which the code above does not access.
unsafe impl<P: Platform, const SLOTS: usize> Body<P> for Grants<P, SLOTS> {
    fn departures(&self) -> &P::U64 {
        &self.holder.departures
    }
}

impl<P: Platform, const SLOTS: usize> fmt::Debug for Grants<P, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grants")
            .field("next", &self.next.load(Ordering::Relaxed))
            .field("holder", &self.holder.number.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}
