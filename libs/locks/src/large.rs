//! Locks of any size, and parts of other locks.

use kilocore_platform::Platform;

use crate::{Backoff, Manner, Mcs, RawLock, Ticket};

/// A mutual-exclusion lock that may be larger than a [`RawLock`]. It is either a whole lock, which
/// [`Inflatable`](crate::Inflatable) fits into two words, or a part of another lock.
///
/// # Safety
/// It promises what a [`RawLock`] does, except for its size and its state when all bits are zero:
/// it guarantees exclusion, any thread may release it, and a release does not touch it after the
/// store that admits the next holder.
pub unsafe trait LargeLock<P: Platform>: Send + Sync + Sized + 'static {
    /// What a thread keeps for locks of this kind; see [`RawLock::Thread`].
    type Thread: Default + 'static;

    /// Returns a free lock.
    fn new() -> Self;

    /// Waits until the lock is free and acquires it.
    fn acquire(&self, thread: &mut Self::Thread);

    /// Releases the lock.
    ///
    /// # Safety
    /// The lock is held, and no other release is under way for the same acquisition.
    unsafe fn release(&self, thread: &mut Self::Thread);
}

/// Makes a lock of the registry usable as a part. This is not one implementation for all of them,
/// because that would forbid the implementations for locks outside of the registry.
macro_rules! small_locks_are_large_ones {
    ($([$($parameters:tt)*] $lock:ty;)*) => {
        $(
        // SAFETY: a `RawLock` promises all of this and more.
        unsafe impl<P: Platform, $($parameters)*> LargeLock<P> for $lock {
            type Thread = <$lock as RawLock<P>>::Thread;

            fn new() -> Self {
                RawLock::new()
            }

            #[inline]
            fn acquire(&self, thread: &mut Self::Thread) {
                RawLock::acquire(self, thread);
            }

            #[inline]
            unsafe fn release(&self, thread: &mut Self::Thread) {
                // SAFETY: the caller's promise is the same.
                unsafe { RawLock::release(self, thread) };
            }
        }
        )*
    };
}

small_locks_are_large_ones! {
    [] Backoff<P>;
    [M: Manner] Mcs<P, M>;
    [const STEP: u32] Ticket<P, STEP>;
}

/// A [`LargeLock`] that can be the body of an [`Inflatable`](crate::Inflatable).
///
/// # Safety
/// [`departures`](Self::departures) always returns the same word of the body. It is 0 in a new
/// body, and the body itself never writes it: an `Inflatable` counts there to know when no thread
/// uses the body any more.
pub unsafe trait Body<P: Platform>: LargeLock<P> {
    /// Returns a word on a cache line that only holders write, so that counting there is cheap for
    /// a holder.
    fn departures(&self) -> &P::U64;
}
