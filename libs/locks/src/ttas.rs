//! The test-and-test-and-set lock without backoff.
//!
//! A waiter watches the word in its own cache, and tries to acquire the lock only when it sees that
//! the lock is free (Rudolph and Segall, 'Dynamic decentralized cache schemes for MIMD parallel
//! processors', ISCA 1984). Unlike in plain test-and-set, waiters do not disturb the holder. But at
//! each release, all of them rush: every waiter re-reads the word, and all that see it free before
//! the first one has acquired the lock fetch the line for writing once more, in vain (Anderson,
//! 'The performance of spin lock alternatives', TPDS 1990). [`Backoff`](crate::Backoff) is the same
//! lock with the remedy.

use kilocore_platform::{Atomic, Ordering, Platform, Wait};

use crate::{LockInfo, RawLock, Waiting};

/// A test-and-test-and-set lock: a waiter reads until the lock is free, and only then tries to take
/// it.
#[derive(Debug)]
pub struct Ttas<P: Platform> {
    held: P::U32,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "ttas",
    title: "test-and-test-and-set spin lock",
    source: "Rudolph and Segall 1984; Anderson 1990",
    best_at: "small and many locks with little contention",
    worst_at: "many waiters: all of them rush at every release; unfair",
    waiting: Waiting::SpinUnordered,
    aliases: &["ttas-ls"],
};

const FREE: u32 = 0;
const HELD: u32 = 1;

impl<P: Platform> Ttas<P> {
    #[inline]
    fn take_if_free(&self) -> bool {
        self.held.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self) {
        loop {
            P::wait_until(&self.held, Wait::Spin, |held| held == FREE);
            if self.take_if_free() {
                return;
            }
        }
    }
}

// SAFETY: the word changes from free to held only by a compare-and-swap with acquire. It changes
// back by a store with release, which is the last access of a release. So there is only one holder
// at a time, and it sees what the one before it wrote. The lock is one word, it is free when all
// its bits are zero (`FREE`), and it names no thread.
unsafe impl<P: Platform> RawLock<P> for Ttas<P> {
    type Thread = ();
    const WAITERS_WATCH_IT: bool = true;

    fn new() -> Self {
        Self { held: P::U32::new(FREE) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        if !self.take_if_free() {
            self.wait();
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        self.take_if_free()
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        self.held.store(FREE, Ordering::Release);
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        // Waiters do not change the word.
    }
}
