//! A thread that waits for a condition variable.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use libc::{pthread_cond_t, pthread_mutex_t, timespec};

use crate::deadline::Deadline;
use crate::futex;

/// States of a waiter.
///
/// | from | to | by |
/// | --- | --- | --- |
/// | `WAITING` | `CHOSEN` | a signal or broadcast, holding the condition variable's lock |
/// | `CHOSEN` | `WOKEN`, `WOKEN_AMONG` | the same, having let go of that lock |
/// | `WAITING` | `LEAVING` | the waiter, timed out or cancelled |
pub(crate) mod state {
    /// On the list, asleep.
    pub(crate) const WAITING: u32 = 0;
    /// Off the list; about to be woken.
    pub(crate) const CHOSEN: u32 = 1;
    /// Free to go, and need not touch the condition variable again.
    pub(crate) const WOKEN: u32 = 2;
    /// Free to go. Others waited when it was chosen: should it be cancelled now, one of them
    /// is to have the signal instead. It has to report its departure.
    pub(crate) const WOKEN_AMONG: u32 = 3;
    /// On the list but not to be chosen: about to take itself off.
    pub(crate) const LEAVING: u32 = 4;
}

/// A place in the list of a condition variable, on the stack of the thread that waits.
///
/// The first four fields are known to `c/wait.c`.
#[repr(C)]
pub(crate) struct Waiter {
    /// The futex it sleeps on; one of [`state`].
    pub(crate) state: AtomicU32,
    operation: c_int,
    deadline: *const timespec,
    cancelled: unsafe extern "C" fn(*mut c_void),
    pub(crate) next: *mut Waiter,
    pub(crate) previous: *mut Waiter,
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
            state: AtomicU32::new(state::WAITING),
            operation,
            // Set to `time` when it goes to sleep and will not be moved any more.
            deadline: if deadline.is_some() { ptr::dangling() } else { ptr::null() },
            cancelled,
            next: ptr::null_mut(),
            previous: ptr::null_mut(),
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

    /// Tries to go without having been chosen. If it has been chosen, waits until the chooser is
    /// done with it and gives the state it was left in.
    ///
    /// # Safety
    /// `this` points to the calling thread's waiter.
    pub(crate) unsafe fn leave(this: *const Self) -> Result<(), u32> {
        // SAFETY: `this` is live.
        let word = unsafe { &(*this).state };
        // Acquire: having been chosen, see what the chooser did before.
        let left = word.compare_exchange(
            state::WAITING,
            state::LEAVING,
            Ordering::Relaxed,
            Ordering::Acquire,
        );
        let Err(mut now) = left else { return Ok(()) };
        while now == state::CHOSEN {
            futex::wait(word, now);
            now = word.load(Ordering::Acquire);
        }
        Err(now)
    }

    /// Wakes a chosen waiter.
    ///
    /// # Safety
    /// `this` was chosen by the caller, who does not use it afterwards: its thread may be gone.
    pub(crate) unsafe fn wake(this: *const Self, state: u32) {
        // SAFETY: a chosen waiter stays until its state changes.
        let word = unsafe { &raw const (*this).state };
        // SAFETY: likewise, up to this store. Release: what the signaller did comes before what
        // the waiter does.
        unsafe { (*word).store(state, Ordering::Release) };
        futex::wake_one(word);
    }
}
