//! Locks of any size, from which others are put together.

use kilocore_platform::Platform;

use crate::{Backoff, Manner, Mcs, RawLock, Ticket};

/// A mutual-exclusion lock that may be larger than a [`RawLock`]: the whole of one that
/// [`Inflatable`](crate::Inflatable) fits into its place, or a part of another.
///
/// # Safety
/// As unsafe code trusts it, it promises what a [`RawLock`] does, except about size and zeros:
/// exclusion, that any thread may release, and that a releasing thread does not touch the lock
/// after the store that lets the next holder in.
pub unsafe trait LargeLock<P: Platform>: Send + Sync + Sized + 'static {
    /// What a thread brings along; see [`RawLock::Thread`].
    type Thread: Default + 'static;

    /// A free lock.
    fn new() -> Self;

    /// Waits until the lock is free and takes it.
    fn acquire(&self, thread: &mut Self::Thread);

    /// Lets the lock go.
    ///
    /// # Safety
    /// The lock is held, and this is the only release that is under way for that acquisition.
    unsafe fn release(&self, thread: &mut Self::Thread);
}

/// Makes a lock of the registry usable as a part. Not one implementation for all of them, which
/// would forbid those below for locks that are not of the registry.
macro_rules! small_locks_are_large_ones {
    ($([$($parameters:tt)*] $lock:ty;)*) => {
        $(
        // SAFETY: it is the `RawLock`, which promises all of this and more.
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
/// [`departures`](Self::departures) is always the same word of the body, 0 in a new one, and the
/// body itself never writes it: by that count an `Inflatable` knows that nobody uses the body any
/// more.
pub unsafe trait Body<P: Platform>: LargeLock<P> {
    /// A word that lies where only holders write, so that it costs a holder nothing to count there.
    fn departures(&self) -> &P::U64;
}
