//! The adaptive mutex: a waiter spins for as long as that has been worth it lately, and then
//! sleeps.
//!
//! This is the futex mutex with a spin before the sleep, as `PTHREAD_MUTEX_ADAPTIVE_NP` is in
//! glibc. The mutex keeps a moving average of the turns that its recent waiters spun. A waiter
//! stops spinning after twice that average and a few turns, and after [`MOST_TURNS`] at the latest.
//! The turns do not grow longer from look to look, as they do in glibc since 2.36.
//!
//! The mutex word has the states that [`Futex`](crate::Futex) documents.

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting, futex};

/// A mutex in the manner of glibc's adaptive one.
#[derive(Debug)]
pub struct Adaptive<P: Platform> {
    state: P::U32,
    /// Moving average of the turns that waiters spun. Only holders write it.
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

/// The most turns that a waiter spins, as in glibc.
const MOST_TURNS: u32 = 100;
/// Turns allowed beyond twice the average. With them, the average can grow from zero.
const TURNS_TO_SPARE: u32 = 10;
/// One divided by the weight of a new value in the moving average: history weighs 7 parts in 8.
const SMOOTHING: u32 = 8;

impl<P: Platform> Adaptive<P> {
    #[cold]
    fn wait(&self) {
        // Relaxed: this is a hint, and any value is correct.
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
        // We hold the lock, so no other thread writes the average.
        self.turns.store(next, Ordering::Relaxed);
    }
}

// SAFETY: the word is taken and freed as in `Futex`. The average beside it is a hint that the next
// holder may even fail to see. The lock has two words of 32 bits, it is free when all its bits are
// zero, and it names no thread.
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
