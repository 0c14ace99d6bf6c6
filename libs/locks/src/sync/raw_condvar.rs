//! A condition variable as `lock_api` sees it.

use core::fmt;
use core::marker::PhantomData;
use std::time::{Duration, Instant};

use lock_api::RawMutex as _;

use super::{RawMutex, deadline};
use crate::{KeepsThread, ThreadCondition};

/// A condition variable for mutexes whose lock is `L`. It has three words.
///
/// No wait ends without a reason: a thread returns only once it was notified or its time was up. So
/// the notifying functions return exactly how many threads they have woken. Threads are woken in the
/// order in which they came.
pub struct RawCondvar<L> {
    condition: ThreadCondition,
    lock: PhantomData<fn(L)>,
}

// SAFETY: a thread enlists itself before it unlocks the mutex. So a notification that comes after
// the unlocking finds it. It locks the mutex again before it returns. Nothing here panics.
unsafe impl<L: KeepsThread> lock_api::RawCondvar for RawCondvar<L> {
    // SAFETY: on the native platform, a condition whose bits are all zero is new.
    #[allow(clippy::declare_interior_mutable_const)]
    const INIT: Self = unsafe { core::mem::zeroed() };

    type RawMutex = RawMutex<L>;

    unsafe fn wait(&self, mutex: &RawMutex<L>, guard: &mut lock_api::GuardSend) {
        // SAFETY: the caller's promise.
        unsafe { self.wait_until(mutex, guard, None) };
    }

    fn notify_one(&self) -> bool {
        self.condition.signal()
    }

    fn notify_all(&self) -> usize {
        self.condition.broadcast()
    }
}

// SAFETY: as above.
unsafe impl<L: KeepsThread> lock_api::RawCondvarTimed for RawCondvar<L> {
    fn checked_duration_to_instant(timeout: &Duration) -> Option<Instant> {
        deadline::after(*timeout)
    }

    unsafe fn wait_until(
        &self,
        mutex: &RawMutex<L>,
        guard: &mut lock_api::GuardSend,
        deadline: &Instant,
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.wait_until(mutex, guard, Some(*deadline)) }
    }
}

impl<L: KeepsThread> RawCondvar<L> {
    /// Unlocks the mutex, sleeps until notified or until `deadline`, and locks the mutex. Returns
    /// whether the deadline ended the sleep.
    ///
    /// # Safety
    /// The caller holds `mutex`, and `guard` is that of its acquisition.
    unsafe fn wait_until(
        &self,
        mutex: &RawMutex<L>,
        guard: &mut lock_api::GuardSend,
        deadline: Option<Instant>,
    ) -> bool {
        // SAFETY: the caller's promise.
        let unlock = || unsafe { mutex.unlock(core::mem::take(guard)) };
        let timed_out = self.condition.release_and_sleep(unlock, deadline);
        *guard = mutex.lock();
        timed_out
    }
}

impl<L> fmt::Debug for RawCondvar<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.condition.fmt(f)
    }
}
