//! A lock as `lock_api` sees it.

use core::fmt;
use std::time::{Duration, Instant};

use lock_api::{GuardSend, RawMutex as _};

use super::deadline::{after, take_until};
use crate::KeepsThread;

/// A mutual-exclusion lock without data, behind the trait of `lock_api`.
///
/// It is as large as `L`. What `L` needs of a thread is kept by the thread.
#[repr(transparent)]
pub struct RawMutex<L>(L);

// SAFETY: `L` excludes, by the promise of `RawLock`, and any thread may release it, so that a guard
// may be sent.
unsafe impl<L: KeepsThread> lock_api::RawMutex for RawMutex<L> {
    // SAFETY: on the native platform, a lock whose bits are all zero is free.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = unsafe { core::mem::zeroed() };

    type Guard = GuardSend;

    #[inline]
    fn lock(&self) -> GuardSend {
        L::with_thread(|thread| self.0.acquire(thread));
        GuardSend::new()
    }

    #[inline]
    fn try_lock(&self) -> Option<GuardSend> {
        L::with_thread(|thread| self.0.try_acquire(thread)).then(GuardSend::new)
    }

    #[inline]
    unsafe fn unlock(&self, _: GuardSend) {
        // SAFETY: the caller holds the lock and gives it up.
        L::with_thread(|thread| unsafe { self.0.release(thread) });
    }

    /// Acquires the lock briefly if it is free.
    fn is_locked(&self) -> bool {
        match self.try_lock() {
            Some(guard) => {
                // SAFETY: acquired just above.
                unsafe { self.unlock(guard) };
                false
            }
            None => true,
        }
    }
}

// SAFETY: as above.
unsafe impl<L: KeepsThread> lock_api::RawMutexTimed for RawMutex<L> {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_for(&self, timeout: Duration) -> Option<GuardSend> {
        self.lock_until(after(timeout))
    }

    fn try_lock_until(&self, deadline: Instant) -> Option<GuardSend> {
        self.lock_until(Some(deadline))
    }
}

impl<L: KeepsThread> RawMutex<L> {
    fn lock_until(&self, deadline: Option<Instant>) -> Option<GuardSend> {
        take_until(deadline, || self.try_lock())
    }
}

impl<L: fmt::Debug> fmt::Debug for RawMutex<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
