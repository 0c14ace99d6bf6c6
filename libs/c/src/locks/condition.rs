//! Condition variables for the locks.

use std::time::{Duration, Instant};

use kilocore_locks::ThreadCondition;

use crate::locks::lock::KcLock;

/// A condition variable; `struct kc_condition` of the header.
#[repr(transparent)]
#[derive(Debug)]
pub struct KcCondition(ThreadCondition);

const _: () = assert!(size_of::<KcCondition>() == 24 && align_of::<KcCondition>() == 8);

/// Releases the lock, sleeps until woken, and acquires the lock.
///
/// # Safety
/// `condition` and `lock` are live, and the caller holds the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_wait(condition: *const KcCondition, lock: *mut KcLock) {
    // SAFETY: by the caller's promise.
    unsafe { wait(condition, lock, None) };
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
    // SAFETY: by the caller's promise.
    !unsafe { wait(condition, lock, deadline) }
}

/// Releases the lock, sleeps until woken or until `deadline`, and acquires the lock. Returns whether
/// the deadline ended the sleep.
///
/// # Safety
/// As for [`kc_condition_wait`].
unsafe fn wait(
    condition: *const KcCondition,
    lock: *mut KcLock,
    deadline: Option<Instant>,
) -> bool {
    // SAFETY: by the caller's promise.
    let (condition, algorithm) = unsafe { (&(*condition).0, &*(*lock).algorithm) };
    // SAFETY: by the caller's promise.
    let state = unsafe { &raw mut (*lock).state };
    // SAFETY: the caller holds the lock.
    let release = || unsafe { (algorithm.release)(state) };
    let timed_out = condition.release_and_sleep(release, deadline);
    // SAFETY: by the caller's promise.
    unsafe { (algorithm.acquire)(state) };
    timed_out
}

/// Wakes the thread that came first. Returns whether there was one.
///
/// # Safety
/// `condition` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_signal(condition: *const KcCondition) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { &(*condition).0 }.signal()
}

/// Wakes all threads. Returns how many there were.
///
/// # Safety
/// `condition` is live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_broadcast(condition: *const KcCondition) -> usize {
    // SAFETY: by the caller's promise.
    unsafe { &(*condition).0 }.broadcast()
}

/// Waits until no thread will touch the condition any more.
///
/// # Safety
/// `condition` is live, and no thread starts to use it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_condition_destroy(condition: *const KcCondition) {
    // SAFETY: by the caller's promise.
    unsafe { &(*condition).0 }.destroy();
}
