//! The adaptive mutex: spin for as long as that has been worth it lately, then sleep.
//!
//! The futex mutex with a spin before the sleep, as `PTHREAD_MUTEX_ADAPTIVE_NP` does under
//! glibc. The mutex remembers in a moving average how many turns its recent waiters took to get
//! it, and a waiter gives up at twice that plus a little, at the latest after
//! [`MOST_TURNS`]. The turns do not grow between looks, as they do since glibc 2.36.
//!
//! The mutex word has the states that [`Futex`](crate::Futex) documents.

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting, futex};

/// A mutex in the manner of glibc's adaptive one.
#[derive(Debug)]
pub struct Adaptive<P: Platform> {
    state: P::U32,
    /// Moving average of the turns that waiters spun. Written by holders only.
    turns: P::U32,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "adaptive",
    title: "adaptive mutex: spins, then sleeps, as glibc's adaptive mutex",
    source: "glibc, PTHREAD_MUTEX_ADAPTIVE_NP",
    best_at: "short sections with moderate contention, whatever the number of threads",
    worst_at: "many waiters: all spin on one word before they sleep; unfair",
    waiting: Waiting::SleepUnordered,
    aliases: &["pthreadadapt"],
};

/// glibc's bound on the turns that a waiter spins.
const MOST_TURNS: u32 = 100;
/// Turns allowed beyond twice the average, so that the average can grow from nothing.
const TURNS_TO_SPARE: u32 = 10;
/// The weight of history in the moving average: 7 parts in 8.
const SMOOTHING: u32 = 8;

impl<P: Platform> Adaptive<P> {
    #[cold]
    fn wait(&self) {
        // Relaxed: a hint, good whichever value it is.
        let average = self.turns.load(Ordering::Relaxed);
        let most = if P::CHECKED { 1 } else { MOST_TURNS.min(2 * average + TURNS_TO_SPARE) };
        let mut turns = 0;
        loop {
            if turns == most {
                futex::sleep_for::<P>(&self.state);
                break;
            }
            turns += 1;
            P::pause(1);
            if futex::looks_free::<P>(&self.state) && futex::take_if_free::<P>(&self.state) {
                break;
            }
        }
        let next = if turns >= average {
            average + (turns - average) / SMOOTHING
        } else {
            average - (average - turns) / SMOOTHING
        };
        // Held here, so that no other thread writes it.
        self.turns.store(next, Ordering::Relaxed);
    }
}

// SAFETY: the word is taken and freed as in `Futex`; the average beside it is a hint that the next
// holder may not even see. Two words of 32 bits, all zeros is free, and they name no thread.
unsafe impl<P: Platform> RawLock<P> for Adaptive<P> {
    type Thread = ();

    fn new() -> Self {
        Self { state: P::U32::new(futex::FREE), turns: P::U32::new(0) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        if !futex::take_if_free::<P>(&self.state) {
            self.wait();
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        futex::take_if_free::<P>(&self.state)
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        futex::free::<P>(&self.state);
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        futex::forget_sleepers::<P>(&self.state);
    }
}
