//! A read-write lock as `lock_api` sees it.

use core::fmt;
use std::time::{Duration, Instant};

use kilocore_platform::Native;
use lock_api::{GuardSend, RawRwLock as _};

use super::deadline::{after, take_until};

/// A read-write lock without data, behind the traits of `lock_api`. It is as large as `L`.
#[repr(transparent)]
pub struct RawRwLock<L>(L);

// SAFETY: by the promise of `crate::RawRwLock`, a writer of `L` is alone inside, and any thread may
// release, so that guards may be sent.
unsafe impl<L: crate::RawRwLock<Native>> lock_api::RawRwLock for RawRwLock<L> {
    // SAFETY: on the native platform, a lock whose bits are all zero is free.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = unsafe { core::mem::zeroed() };

    type SharedGuard = L::Reader;
    type ExclusiveGuard = GuardSend;

    #[inline]
    fn lock_shared(&self) -> L::Reader {
        self.0.acquire_shared()
    }

    #[inline]
    fn try_lock_shared(&self) -> Option<L::Reader> {
        self.0.try_acquire_shared()
    }

    #[inline]
    unsafe fn unlock_shared(&self, reader: L::Reader) {
        // SAFETY: the caller is inside as this reader.
        unsafe { self.0.release_shared(reader) };
    }

    #[inline]
    fn lock_exclusive(&self) -> GuardSend {
        self.0.acquire();
        GuardSend::new()
    }

    #[inline]
    fn try_lock_exclusive(&self) -> Option<GuardSend> {
        self.0.try_acquire().then(GuardSend::new)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, _: GuardSend) {
        // SAFETY: the caller is inside as the writer.
        unsafe { self.0.release() };
    }

    /// Enters briefly as the writer if nobody is inside.
    fn is_locked(&self) -> bool {
        match self.try_lock_exclusive() {
            Some(guard) => {
                // SAFETY: entered just above.
                unsafe { self.unlock_exclusive(guard) };
                false
            }
            None => true,
        }
    }

    fn is_locked_exclusive(&self) -> bool {
        self.0.has_writer()
    }
}

// SAFETY: `downgrade` of `L` lets no writer in.
unsafe impl<L: crate::RawRwLock<Native>> lock_api::RawRwLockDowngrade for RawRwLock<L> {
    #[inline]
    unsafe fn downgrade(&self, _: GuardSend) -> L::Reader {
        // SAFETY: the caller is inside as the writer.
        unsafe { self.0.downgrade() }
    }
}

// SAFETY: as for `lock_api::RawRwLock`.
unsafe impl<L: crate::RawRwLock<Native>> lock_api::RawRwLockTimed for RawRwLock<L> {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> Option<L::Reader> {
        take_until(after(timeout), || self.try_lock_shared())
    }

    fn try_lock_shared_until(&self, deadline: Instant) -> Option<L::Reader> {
        take_until(Some(deadline), || self.try_lock_shared())
    }

    fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<GuardSend> {
        take_until(after(timeout), || self.try_lock_exclusive())
    }

    fn try_lock_exclusive_until(&self, deadline: Instant) -> Option<GuardSend> {
        take_until(Some(deadline), || self.try_lock_exclusive())
    }
}

impl<L: fmt::Debug> fmt::Debug for RawRwLock<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
