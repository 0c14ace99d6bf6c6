//! The test-and-test-and-set lock without backoff.
//!
//! A waiter watches the word in its own cache and tries to take the lock only when it saw it
//! free (Rudolph and Segall, 'Dynamic decentralized cache schemes for MIMD parallel
//! processors', ISCA 1984). That leaves the holder in peace, unlike plain test-and-set, but at
//! each release all waiters rush: every one of them re-reads the word, and all who saw it free
//! before the first of them had it take the line away once more, in vain (Anderson, 'The
//! performance of spin lock alternatives', TPDS 1990). [`Backoff`](crate::Backoff) is the same
//! lock with the remedy.

use kilocore_platform::{Atomic, Ordering, Platform, Wait};

use crate::{LockInfo, RawLock, Waiting};

/// A test-and-test-and-set lock.
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

// SAFETY: the word goes from free to held by one exchange with acquire, and back by a store with
// release, which is the last access; so each holder is alone and sees what the last one did. One
// word, all zeros is `FREE`, and it names no thread.
unsafe impl<P: Platform> RawLock<P> for Ttas<P> {
    type Thread = ();

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
        // Waiters leave no trace in the word.
    }
}
