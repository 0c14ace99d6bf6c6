//! The test-and-set lock: compare and exchange until the word was free.
//!
//! The smallest lock there is, and the quickest to pass on to somebody who happens to ask at the
//! right moment. Every turn of every waiter takes the line for writing away from the holder,
//! which has to get it back before it can even release, so throughput falls with each waiter
//! added (Anderson, 'The performance of spin lock alternatives', TPDS 1990). It is here as the
//! lower bound and as the baseline of its family.

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::{LockInfo, RawLock, Waiting};

/// A test-and-set lock.
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

// SAFETY: the word goes from free to held by a compare-and-swap with acquire, and back by a store
// with release, which is the last access; so each holder is alone and sees what the last one did.
// One word, all zeros is `FREE`, and it names no thread.
unsafe impl<P: Platform> RawLock<P> for Tas<P> {
    type Thread = ();

    fn new() -> Self {
        Self { held: P::U32::new(FREE) }
    }

    #[inline]
    fn acquire(&self, thread: &mut ()) {
        // Not `wait_until`: that waiters ask for the line to write it instead of watching it is
        // what makes this lock. The processor takes the line for a failed comparison as well.
        while !self.try_acquire(thread) {
            P::pause(1);
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        // Not a blind exchange: one that found the lock held would write what is there, and
        // loom does not know that the holder's plain store must come after such a write.
        self.held.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        self.held.store(FREE, Ordering::Release);
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        // Waiters leave no trace in the word.
    }
}
