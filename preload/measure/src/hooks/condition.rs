//! The functions `pthread_cond_*`.
//!
//! A wait releases the mutex and acquires it again inside the C library. It is recorded as the end
//! of one hold, a wait for the condition, and the beginning of the next hold. From outside, one
//! cannot tell how much of the wait was for the mutex.
//!
//! Waits are cancellation points, so a cancelled thread unwinds through these functions. They own
//! nothing that needs dropping, and what they have noted until then is consistent.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use kilocore_lock_recording::ConditionBlock;
use kilocore_preload_common::real;
use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

use crate::acquire::is_acquired;
use crate::clock;
use crate::counters::Count;
use crate::mode::Mode;
use crate::object::{Mutex, Object};
use crate::recorder::Recorder;

/// A wait that has begun and not ended.
#[derive(Clone, Copy)]
struct Waiting {
    recorder: Recorder,
    condition: Option<&'static ConditionBlock>,
    mutex: Mutex,
    began: u64,
}

impl Waiting {
    fn begin(
        recorder: Recorder,
        condition: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
    ) -> Self {
        let condition = recorder.listed(condition as usize);
        recorder.releasing(mutex as usize);
        Self { recorder, condition, mutex: Mutex(mutex), began: clock::now().cycles }
    }

    fn end(self, result: c_int) {
        let recorder = self.recorder;
        if !is_acquired(result) && result != libc::ETIMEDOUT {
            // This is an error, and the mutex was not released. The only consequence is that its
            // hold is not recorded.
            return;
        }
        let waited = clock::now().cycles.saturating_sub(self.began);
        recorder.thread.note_wait(waited);
        recorder.discount(waited);
        if let Some(condition) = self.condition {
            condition.wait.count(waited, 1, true);
            if result == libc::ETIMEDOUT {
                condition.timed_out.fetch_add(1, Ordering::Relaxed);
            }
        }
        recorder.reacquired(self.mutex);
        if let (Some(condition), Some(lock)) = (self.condition, recorder.held_lock(self.mutex)) {
            let unit = recorder.unit_of(lock);
            if condition.lock.load(Ordering::Relaxed) != unit {
                condition.lock.store(unit, Ordering::Relaxed);
            }
        }
    }
}

impl Recorder {
    /// Records that the thread has acquired the mutex again at the end of a wait for a condition.
    /// No think time precedes this acquisition.
    fn reacquired(self, mutex: Mutex) {
        let last = self.thread.last_release.replace(0);
        let locking = self.thread.locking.replace(true);
        self.acquired(mutex, Mode::Exclusive, 0);
        self.thread.locking.set(locking);
        if self.thread.depth.get() == 0 {
            self.thread.last_release.set(last);
        }
    }

    /// Returns the record of a mutex if it is the last lock that the thread took.
    fn held_lock(self, mutex: Mutex) -> Option<*const kilocore_lock_recording::LockBlock> {
        let held = self.innermost()?;
        (held.object == mutex.address()).then_some(held.lock)
    }
}

/// Waits for a condition variable. This is a cancellation point.
///
/// # Safety
/// The contract is that of the POSIX function, here and below.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: this passes on the caller's arguments unchanged, here and below.
        return unsafe { real::pthread_cond_wait(condition, mutex) };
    };
    let waiting = Waiting::begin(recorder, condition, mutex);
    // SAFETY: as above.
    let result = unsafe { real::pthread_cond_wait(condition, mutex) };
    waiting.end(result);
    result
}

/// Waits for a condition variable until a deadline. This is a cancellation point.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: *const timespec,
) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: as above.
        return unsafe { real::pthread_cond_timedwait(condition, mutex, deadline) };
    };
    let waiting = Waiting::begin(recorder, condition, mutex);
    // SAFETY: as above.
    let result = unsafe { real::pthread_cond_timedwait(condition, mutex, deadline) };
    waiting.end(result);
    result
}

/// Waits for a condition variable until a deadline on a given clock. This is a cancellation point.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_clockwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    deadline: *const timespec,
) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: as above.
        return unsafe { real::pthread_cond_clockwait(condition, mutex, clock, deadline) };
    };
    let waiting = Waiting::begin(recorder, condition, mutex);
    // SAFETY: as above.
    let result = unsafe { real::pthread_cond_clockwait(condition, mutex, clock, deadline) };
    waiting.end(result);
    result
}

/// Wakes one waiter.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_signal(
    condition: *mut pthread_cond_t,
) -> c_int {
    let record: Option<&ConditionBlock> =
        Recorder::enter().and_then(|recorder| recorder.listed(condition as usize));
    if let Some(record) = record {
        record.signals.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: as above.
    unsafe { real::pthread_cond_signal(condition) }
}

/// Wakes all waiters.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_broadcast(
    condition: *mut pthread_cond_t,
) -> c_int {
    let record: Option<&ConditionBlock> =
        Recorder::enter().and_then(|recorder| recorder.listed(condition as usize));
    if let Some(record) = record {
        record.broadcasts.fetch_add(1, Ordering::Relaxed);
    }
    // SAFETY: as above.
    unsafe { real::pthread_cond_broadcast(condition) }
}

/// Destroys a condition variable.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_destroy(
    condition: *mut pthread_cond_t,
) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real::pthread_cond_destroy(condition) };
    if let (0, Some(recorder)) = (result, Recorder::enter()) {
        recorder.listed_destroyed::<ConditionBlock>(condition as usize);
    }
    result
}
