//! The test-and-test-and-set lock with bounded exponential backoff.
//!
//! A waiter looks at the word. If the lock is held, it backs off for a random time. The bound of
//! this time doubles with each look, so that few waiters look or try to acquire at a time, however
//! many there are (Anderson, 'The performance of spin lock alternatives', TPDS 1990). The bound has
//! a limit. Without one, an unlucky waiter would still back off while the lock is free many times
//! over.
//!
//! # Where it departs from the paper
//! Here, waiters also back off when they find the lock held, and not only when they lose a race for
//! it. If they watched the word, all of them would try to acquire the lock at each release. The
//! price is fairness: the thread that has just released the lock finds it free more often than
//! others do. Shorter steps back than the default bounds are fairer and, under long contention,
//! slower.

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::random::Dice;
use crate::{LockInfo, RawLock, Waiting};

/// A test-and-test-and-set lock with backoff.
#[derive(Debug)]
pub struct Backoff<P: Platform> {
    held: P::U32,
}

/// What a thread keeps: its random state, so that waiters back off for different times.
#[derive(Debug, Default)]
pub struct BackoffThread {
    dice: Dice,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "backoff",
    title: "test-and-test-and-set spin lock with bounded exponential backoff",
    source: "Anderson 1990",
    best_at: "small and many locks with little contention; more threads than cores",
    worst_at: "long contention: unfair, and the lock often idles while all step back",
    waiting: Waiting::SpinUnordered,
    aliases: &[],
};

const FREE: u32 = 0;
const HELD: u32 = 1;

/// The bound of the first backoff, in turns of a spin loop. This and [`LONGEST_BACKOFF`] are the
/// defaults of the library Concurrency Kit, and so of most programs that use such a lock.
const FIRST_BACKOFF: u32 = 1 << 9;
/// The bound that is never exceeded: some milliseconds. Under long contention, most waiters are
/// therefore backing off, and the few others find the lock and its data in their own caches.
const LONGEST_BACKOFF: u32 = 1 << 20;

impl<P: Platform> Backoff<P> {
    #[inline]
    fn take_if_free(&self) -> bool {
        self.held.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self, dice: &mut Dice) {
        let mut bound = FIRST_BACKOFF;
        loop {
            P::pause(1 + dice.roll::<P>() % bound);
            if self.held.load(Ordering::Relaxed) == FREE && self.take_if_free() {
                return;
            }
            if bound < LONGEST_BACKOFF {
                bound *= 2;
            } else {
                P::yield_now();
            }
        }
    }
}

// SAFETY: the word changes from free to held only by a compare-and-swap with acquire. It changes
// back by a store with release, which is the last access of a release. So there is only one holder
// at a time, and it sees what the one before it wrote. The lock is one word, it is free when all
// its bits are zero (`FREE`), and it names no thread.
unsafe impl<P: Platform> RawLock<P> for Backoff<P> {
    type Thread = BackoffThread;
    const WAITERS_WATCH_IT: bool = true;

    fn new() -> Self {
        Self { held: P::U32::new(FREE) }
    }

    #[inline]
    fn acquire(&self, thread: &mut BackoffThread) {
        if !self.take_if_free() {
            self.wait(&mut thread.dice);
        }
    }

    #[inline]
    fn try_acquire(&self, _thread: &mut BackoffThread) -> bool {
        self.take_if_free()
    }

    #[inline]
    unsafe fn release(&self, _thread: &mut BackoffThread) {
        self.held.store(FREE, Ordering::Release);
    }

    unsafe fn forget_waiters(&self, _thread: &mut BackoffThread) {
        // Waiters do not change the word.
    }
}
