//! The data of the log in each object.

use core::fmt;
use core::ptr::NonNull;

use kilocore_ldu::{Hook, Object};
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::debts::Debts;
use crate::home::Home;

/// Remembers which root the object is in, how many entries logs have for it, and the stamp of its
/// last operation.
pub struct OpLogHook<P: Platform> {
    pub(super) home: Home<P>,
    /// One debt for each entry in a log.
    pub(super) debts: Debts<P>,
    /// The stamp of the last operation. Only the owner of the object's token uses it.
    stamp: P::U64,
}

impl<P: Platform> OpLogHook<P> {
    /// Whether the object's last operation has this stamp. No two of its operations have the same
    /// stamp.
    #[inline]
    pub(super) fn is_last(&self, stamp: u64) -> bool {
        self.stamp.load(Ordering::Relaxed) == stamp
    }

    /// Returns a stamp for the next operation: `now` or, if that is not later than the last stamp,
    /// the last stamp plus one.
    #[inline]
    pub(super) fn stamp(&self, now: u64) -> u64 {
        let stamp = now.max(self.stamp.load(Ordering::Relaxed) + 1);
        self.stamp.store(stamp, Ordering::Relaxed);
        stamp
    }
}

// SAFETY: the object is freed when it was released and no log has an entry for it, whichever
// happens last. If a detached object has no entries, it was removed from the structure before the
// last of them was paid for, and under the lock that readers take. So readers have left or will not
// find it.
unsafe impl<P: Platform> Hook for OpLogHook<P> {
    type Platform = P;

    fn new() -> Self {
        Self { home: Home::new(), debts: Debts::new(), stamp: P::U64::new(0) }
    }

    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
        // SAFETY: the object is alive, these are its own debts, and the caller owns it.
        unsafe { (*object.as_ptr()).hook.debts.release(object) };
    }

    #[inline]
    fn is_settled(&self) -> bool {
        self.debts.none()
    }
}

impl<P: Platform> fmt::Debug for OpLogHook<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpLogHook").finish_non_exhaustive()
    }
}
