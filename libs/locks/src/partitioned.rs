//! The partitioned ticket lock: numbers are called on several lines in turn.
//!
//! A ticket lock whose waiters are spread over an array of words by their number: who has number
//! *n* watches the word *n* modulo the length, and a release writes the next number to the word
//! where its owner watches. So a release disturbs only the waiters that share that word, and
//! with an array as long as there are waiters only one (Dice, 'Brief announcement: a partitioned
//! ticket lock', SPAA 2011).
//!
//! # Where it departs from the paper
//! The array does not fit into the lock's place: it is the body of an
//! [`Inflatable`](crate::Inflatable), there only while somebody waits. The holder's number is
//! stored beside it, so that any thread can release.

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

/// Tickets that are called on `SLOTS` lines, a power of two.
pub struct Grants<P: Platform, const SLOTS: usize> {
    /// The next number to hand out.
    next: Padded<P::U32>,
    holder: Padded<Holder<P>>,
    /// The last number called on each line.
    called: [Padded<P::U32>; SLOTS],
}

/// What only holders touch.
struct Holder<P: Platform> {
    /// The holder's number.
    number: P::U32,
    departures: P::U64,
}

impl<P: Platform, const SLOTS: usize> Grants<P, SLOTS> {
    /// The line on which `number` is called. Two under a checker, so that numbers meet.
    #[inline]
    fn line(&self, number: u32) -> &P::U32 {
        const { assert!(SLOTS.is_power_of_two() && SLOTS > 1) };
        let lines = if P::CHECKED { 2 } else { SLOTS };
        &self.called[number as usize % lines]
    }
}

// SAFETY: each number is handed out once and called once, by the store with release that ends the
// section before and that the next holder reads with acquire; that store is the last access.
unsafe impl<P: Platform, const SLOTS: usize> LargeLock<P> for Grants<P, SLOTS> {
    type Thread = ();

    fn new() -> Self {
        Self {
            next: Padded(P::U32::new(0)),
            holder: Padded(Holder { number: P::U32::new(0), departures: P::U64::new(0) }),
            // Number 0 is called. On the other lines it is nobody's.
            called: core::array::from_fn(|_| Padded(P::U32::new(0))),
        }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        // Relaxed: the number itself orders nothing; the acquire read of the call does.
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

// SAFETY: it is a word of its own, which nothing above touches.
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
