//! The test-and-test-and-set lock with bounded exponential backoff.
//!
//! A waiter looks at the word, and if it is held steps back for a random time whose bound doubles
//! with each look, so that few look or exchange at a time whatever the number of waiters
//! (Anderson, 'The performance of spin lock alternatives', TPDS 1990). The bound has a limit, or an
//! unlucky waiter would sleep through many a free moment.
//!
//! Departure from the paper: waiters step back from a held lock too, and not only from a lost race.
//! Were they to watch the word, all of them would come for it at each release. The price is paid in
//! fairness: whoever has just let the lock go finds it free more often than others do.

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::random::Dice;
use crate::{LockInfo, RawLock, Waiting};

/// A test-and-test-and-set lock with backoff.
#[derive(Debug)]
pub struct Backoff<P: Platform> {
    held: P::U32,
}

/// What a thread brings along: its dice, so that waiters step back for different times.
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

/// The bound of the first step back, in turns of a spin loop: with [`LONGEST_BACKOFF`] what the
/// library Concurrency Kit steps back by unless told otherwise, and with it most programs that use
/// such a lock.
const FIRST_BACKOFF: u32 = 1 << 9;
/// The bound that is never exceeded: some milliseconds. Under long contention most waiters are
/// thus away, and the few that are not find the lock and its data in their own caches.
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

// SAFETY: the word goes from free to held by one exchange with acquire, and back by a store with
// release, which is the last access; so each holder is alone and sees what the last one did. One
// word, all zeros is `FREE`, and it names no thread.
unsafe impl<P: Platform> RawLock<P> for Backoff<P> {
    type Thread = BackoffThread;

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
        // Waiters leave no trace in the word.
    }
}
