//! A thread that waits for a condition variable.

use core::ffi::{c_int, c_void};
use core::ptr;

use kilocore_locks::Sleeper;
use libc::{pthread_cond_t, pthread_mutex_t, timespec};

use crate::deadline::Deadline;
use crate::host::Host;

/// The record of a thread that waits for a condition variable. It lies on the thread's stack.
///
/// `c/wait.c` knows the first fields, up to and including `cancelled`.
#[repr(C)]
pub(crate) struct Waiter {
    pub(crate) sleeper: Sleeper<Host>,
    operation: c_int,
    deadline: *const timespec,
    cancelled: unsafe extern "C" fn(*mut c_void),
    pub(crate) cond: *mut pthread_cond_t,
    pub(crate) mutex: *mut pthread_mutex_t,
    /// Whether the mutex counts this waiter; see
    /// [`join_conditions`](crate::mutex::join_conditions).
    pub(crate) counted: bool,
    time: timespec,
}

unsafe extern "C-unwind" {
    /// See `c/wait.c`. This is a cancellation point.
    fn kilocore_sleep(waiter: *mut Waiter) -> c_int;
}

impl Waiter {
    /// Returns a waiter for `cond`. `cancelled` is called with a pointer to the waiter if the
    /// thread is cancelled in its sleep.
    pub(crate) fn new(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        counted: bool,
        deadline: Option<Deadline>,
        cancelled: unsafe extern "C" fn(*mut c_void),
    ) -> Self {
        let operation = Deadline::futex_operation(deadline.as_ref());
        Self {
            sleeper: Sleeper::default(),
            operation,
            // The pointer is set to `time` when the thread goes to sleep, because the waiter is not
            // moved from then on.
            deadline: if deadline.is_some() { ptr::dangling() } else { ptr::null() },
            cancelled,
            cond,
            mutex,
            counted,
            time: deadline.map_or(timespec { tv_sec: 0, tv_nsec: 0 }, |deadline| deadline.time),
        }
    }

    /// Sleeps until the thread is woken or the deadline passes. Returns whether the deadline passed
    /// first. This is a cancellation point.
    ///
    /// # Safety
    /// `this` points to the calling thread's waiter. Nothing needs dropping in the frames between
    /// this one and the program's.
    pub(crate) unsafe fn sleep(this: *mut Self) -> bool {
        // SAFETY: `this` is live. Other threads, which wake this one, use only the state and the
        // links.
        unsafe {
            if !(*this).deadline.is_null() {
                (*this).deadline = &raw const (*this).time;
            }
            kilocore_sleep(this) != 0
        }
    }
}
