//! A thread that waits for a condition variable.

use core::ffi::{c_int, c_void};
use core::ptr;

use kilocore_locks::Sleeper;
use libc::{pthread_cond_t, pthread_mutex_t, timespec};

use crate::deadline::Deadline;
use crate::host::Host;

/// A thread that waits for a condition variable, and what it needs for that; on its stack.
///
/// The first fields, up to and with `cancelled`, are known to `c/wait.c`.
#[repr(C)]
pub(crate) struct Waiter {
    pub(crate) sleeper: Sleeper<Host>,
    operation: c_int,
    deadline: *const timespec,
    cancelled: unsafe extern "C" fn(*mut c_void),
    pub(crate) cond: *mut pthread_cond_t,
    pub(crate) mutex: *mut pthread_mutex_t,
    /// Whether the mutex knows that it is waited with.
    pub(crate) counted: bool,
    time: timespec,
}

unsafe extern "C-unwind" {
    /// See `c/wait.c`. A cancellation point.
    fn kilocore_sleep(waiter: *mut Waiter) -> c_int;
}

impl Waiter {
    /// A waiter of `cond`. `cancelled` is called with it if the thread is cancelled in its sleep.
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
            // Set to `time` when it goes to sleep and will not be moved any more.
            deadline: if deadline.is_some() { ptr::dangling() } else { ptr::null() },
            cancelled,
            cond,
            mutex,
            counted,
            time: deadline.map_or(timespec { tv_sec: 0, tv_nsec: 0 }, |deadline| deadline.time),
        }
    }

    /// Sleeps until woken; whether the deadline passed first. A cancellation point.
    ///
    /// # Safety
    /// `this` points to the calling thread's waiter; nothing in the frames between here and the
    /// program's needs dropping.
    pub(crate) unsafe fn sleep(this: *mut Self) -> bool {
        // SAFETY: `this` is live. Its other users, wakers, touch the state and the links only.
        unsafe {
            if !(*this).deadline.is_null() {
                (*this).deadline = &raw const (*this).time;
            }
            kilocore_sleep(this) != 0
        }
    }
}
