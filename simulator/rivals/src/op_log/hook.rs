//! What the log keeps in an object.

use core::fmt;
use core::ptr::NonNull;

use kilocore_ldu::{Hook, Object};
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::debts::Debts;
use crate::home::Home;

/// Which root the object is in, what is logged for it, and when that was.
pub struct OpLogHook<P: Platform> {
    pub(super) home: Home<P>,
    /// One for each entry of a log.
    pub(super) debts: Debts<P>,
    /// The stamp of the last operation. Only the owner of the object's token uses it.
    stamp: P::U64,
}

impl<P: Platform> OpLogHook<P> {
    /// Whether the object's last operation has this stamp; no two of its operations have the same.
    #[inline]
    pub(super) fn is_last(&self, stamp: u64) -> bool {
        self.stamp.load(Ordering::Relaxed) == stamp
    }

    /// A stamp for the next operation: `now`, or later if that is no later than the last one.
    #[inline]
    pub(super) fn stamp(&self, now: u64) -> u64 {
        let stamp = now.max(self.stamp.load(Ordering::Relaxed) + 1);
        self.stamp.store(stamp, Ordering::Relaxed);
        stamp
    }
}

// SAFETY: the object is freed when it was given back and no log has an entry for it, whichever comes
// last. A detached object without entries was taken out of the structure before the last of them was
// paid for, under the lock that readers take; so they have left or will not find it.
unsafe impl<P: Platform> Hook for OpLogHook<P> {
    type Platform = P;

    fn new() -> Self {
        Self { home: Home::new(), debts: Debts::new(), stamp: P::U64::new(0) }
    }

    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
        // SAFETY: the object is alive, and these are its own debts; the caller owns it.
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
