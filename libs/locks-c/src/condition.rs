//! Condition variables for the locks.

use std::time::{Duration, Instant};

use kilocore_locks::{Condition, Sleeper};
use kilocore_platform::{Nanos, Native};

use crate::lock::KcLock;

/// The number under which this process takes the locks inside its conditions. It need not differ
/// from the numbers of other processes, because these conditions are not used across a fork.
const PROCESS: u32 = 1;

/// A condition variable; `struct kc_condition` of the header.
#[repr(transparent)]
#[derive(Debug)]
pub struct KcCondition(Condition<Native>);

const _: () = assert!(size_of::<KcCondition>() == 24 && align_of::<KcCondition>() == 8);

/// Releases the lock, sleeps until woken, and acquires the lock.
///
/// # Safety
/// `condition` and `lock` are live, and the caller holds the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_wait(condition: *const KcCondition, lock: *mut KcLock) {
    // SAFETY: by the caller's promise.
    unsafe { wait(condition, lock, || None) };
}

/// As [`kc_condition_wait`], but sleeps for `nanoseconds` at most. Returns whether it was woken.
///
/// # Safety
/// As for [`kc_condition_wait`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_wait_for(
    condition: *const KcCondition,
    lock: *mut KcLock,
    nanoseconds: u64,
) -> bool {
    let deadline = Instant::now().checked_add(Duration::from_nanos(nanoseconds));
    let left = || {
        let left = deadline?.saturating_duration_since(Instant::now()).as_nanos();
        Some(Nanos(left.try_into().unwrap_or(u64::MAX)))
    };
    // SAFETY: by the caller's promise.
    !unsafe { wait(condition, lock, left) }
}

/// Releases the lock, sleeps until woken or until no time is `left`, and acquires the lock. Returns
/// whether the time ended the sleep.
///
/// # Safety
/// As for [`kc_condition_wait`].
unsafe fn wait(
    condition: *const KcCondition,
    lock: *mut KcLock,
    left: impl FnMut() -> Option<Nanos>,
) -> bool {
    // SAFETY: by the caller's promise.
    let (condition, algorithm) = unsafe { (&(*condition).0, &*(*lock).algorithm) };
    let mut sleeper = Sleeper::default();
    let sleeper = &raw mut sleeper;
    // SAFETY: the sleeper is new, and stays until `sleep` returns. By then it has been woken or has
    // left. The caller holds the lock.
    unsafe {
        let state = &raw mut (*lock).state;
        condition.enlist(sleeper, PROCESS);
        (algorithm.release)(state);
        let timed_out = condition.sleep(sleeper, PROCESS, left);
        (algorithm.acquire)(state);
        timed_out
    }
}

/// Wakes the thread that came first. Returns whether there was one.
///
/// # Safety
/// `condition` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_signal(condition: *const KcCondition) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { &(*condition).0 }.signal(PROCESS)
}

/// Wakes all threads. Returns how many there were.
///
/// # Safety
/// `condition` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_broadcast(condition: *const KcCondition) -> usize {
    // SAFETY: by the caller's promise.
    unsafe { &(*condition).0 }.broadcast(PROCESS)
}

/// Waits until no thread will touch the condition any more.
///
/// # Safety
/// `condition` is live, and no thread starts to use it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_destroy(condition: *const KcCondition) {
    // SAFETY: by the caller's promise.
    unsafe { &(*condition).0 }.destroy(PROCESS);
}
