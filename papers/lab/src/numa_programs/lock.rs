//! Holding a lock for a while.

use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::Platform;

/// The lock of a record: one word, as records are many and seldom contended.
pub(crate) type Lock<P> = Ttas<P>;

pub(crate) fn free<P: Platform>() -> Lock<P> {
    RawLock::<P>::new()
}

/// Calls `section` with the lock held. If it panics, the lock stays held.
#[inline]
pub(crate) fn holding<P: Platform, R>(lock: &Lock<P>, section: impl FnOnce() -> R) -> R {
    RawLock::<P>::acquire(lock, &mut ());
    let result = section();
    // SAFETY: acquired above, and released only here.
    unsafe { RawLock::<P>::release(lock, &mut ()) };
    result
}
