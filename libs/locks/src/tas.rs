//! The test-and-set lock: a waiter repeats a compare-and-swap until it succeeds.
//!
//! This is the smallest lock, and the fastest to hand over to a thread that happens to try at the
//! right moment. Every try of every waiter fetches the cache line for writing, away from the
//! holder. The holder has to fetch it back before it can release. Throughput therefore falls with
//! each additional waiter (Anderson, 'The performance of spin lock alternatives', TPDS 1990). It is
//! here as the lower bound and as the baseline of its family.

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting};

/// A test-and-set lock: a waiter repeats a compare-and-swap until it succeeds.
#[derive(Debug)]
pub struct Tas<P: Platform> {
    held: P::U32,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "tas",
    title: "test-and-set spin lock",
    source: "Anderson 1990",
    best_at: "locks that are hardly ever contended; smallest and simplest",
    worst_at: "any contention: every waiter's every try delays the holder; unfair",
    waiting: Waiting::SpinUnordered,
    aliases: &["spinlock", "spinlock-ls"],
};

const FREE: u32 = 0;
const HELD: u32 = 1;

// SAFETY: the word changes from free to held only by a compare-and-swap with acquire. It changes
// back by a store with release, which is the last access of a release. So there is only one holder
// at a time, and it sees what the one before it wrote. The lock is one word, it is free when all
// its bits are zero (`FREE`), and it names no thread.
unsafe impl<P: Platform> RawLock<P> for Tas<P> {
    type Thread = ();
    const WAITERS_WATCH_IT: bool = true;

    fn new() -> Self {
        Self { held: P::U32::new(FREE) }
    }

    #[inline]
    fn acquire(&self, thread: &mut ()) {
        // Not `wait_until`: in a test-and-set lock, waiters request the line for writing instead of
        // watching it. The processor fetches the line for writing even if the comparison fails.
        while !self.try_acquire(thread) {
            P::pause(1);
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        // Not an unconditional exchange. If the lock is held, it would write the value that is
        // there already, and loom does not know that the holder's plain store must come after such
        // a write.
        self.held.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        self.held.store(FREE, Ordering::Release);
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        // Waiters do not change the word.
    }
}
