//! The condition-variable functions that the program finds instead of glibc's.
//!
//! Three cases: the whole process is left to glibc; the variable is shared by processes and left
//! to glibc; or it is one of [`Condvar`]'s, whatever kind its mutex is.

use core::ffi::c_void;
use core::ptr;

use kilocore_locks::{Sleeper, sleeper_state};
use kilocore_preload_common::{condattr, mutex_kind, real};
use libc::{c_int, clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec};

use crate::choice::{functions, replaces};
use crate::condvar::Condvar;
use crate::deadline::Deadline;
use crate::mutex;
use crate::waiter::Waiter;
use crate::{process, shared_condvar};

/// Initializes a condition variable.
///
/// # Safety
/// As POSIX has it for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_init(
    cond: *mut pthread_cond_t,
    attr: *const pthread_condattr_t,
) -> c_int {
    // SAFETY: the caller keeps the contract of the function it meant to call, here and below.
    unsafe {
        if !replaces() {
            return real::pthread_cond_init(cond, attr);
        }
        if condattr::is_process_shared(attr) {
            return shared_condvar::init(cond, attr);
        }
        Condvar::init(cond, condattr::clock(attr));
    }
    0
}

/// Destroys a condition variable, having waited for threads that still touch it.
///
/// # Safety
/// As POSIX has it for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> c_int {
    // SAFETY: as above.
    unsafe {
        if is_glibcs(cond) {
            return real::pthread_cond_destroy(cond);
        }
        Condvar::of(cond).condition.destroy(process::current());
    }
    0
}

/// Wakes one waiter.
///
/// # Safety
/// As POSIX has it for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_signal(cond: *mut pthread_cond_t) -> c_int {
    // SAFETY: as above.
    unsafe {
        if is_glibcs(cond) {
            return real::pthread_cond_signal(cond);
        }
        Condvar::of(cond).condition.signal(process::current());
    }
    0
}

/// Wakes all waiters.
///
/// # Safety
/// As POSIX has it for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> c_int {
    // SAFETY: as above.
    unsafe {
        if is_glibcs(cond) {
            return real::pthread_cond_broadcast(cond);
        }
        Condvar::of(cond).condition.broadcast(process::current());
    }
    0
}

/// Waits until woken. A cancellation point.
///
/// # Safety
/// As POSIX has it for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_wait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        if !is_glibcs(cond) {
            return wait(cond, mutex, None);
        }
        if can_use_glibcs(mutex) {
            return real::pthread_cond_wait(cond, mutex);
        }
        shared_condvar::wait(mutex, libc::CLOCK_REALTIME, ptr::null())
    }
}

/// Waits until woken or a deadline on the variable's clock. A cancellation point.
///
/// # Safety
/// As POSIX has it for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_timedwait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        if !is_glibcs(cond) {
            return match Deadline::new(Condvar::of(cond).clock(), time) {
                Ok(deadline) => wait(cond, mutex, Some(deadline)),
                Err(error) => error,
            };
        }
        if can_use_glibcs(mutex) {
            return real::pthread_cond_timedwait(cond, mutex, time);
        }
        shared_condvar::wait(mutex, shared_condvar::clock(cond), time)
    }
}

/// Waits until woken or a deadline on a given clock. A cancellation point.
///
/// # Safety
/// As glibc has it for this function.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_cond_clockwait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: as above.
    unsafe {
        if !is_glibcs(cond) {
            return match Deadline::new(clock, time) {
                Ok(deadline) => wait(cond, mutex, Some(deadline)),
                Err(error) => error,
            };
        }
        if can_use_glibcs(mutex) {
            return real::pthread_cond_clockwait(cond, mutex, clock, time);
        }
        shared_condvar::wait(mutex, clock, time)
    }
}

/// Whether `cond` is to be handed to glibc.
///
/// # Safety
/// `cond` points to an initialized condition variable.
#[inline]
unsafe fn is_glibcs(cond: *const pthread_cond_t) -> bool {
    // SAFETY: by this function's contract.
    !replaces() || unsafe { shared_condvar::is_shared(cond) }
}

/// Whether glibc may unlock and lock `mutex` by itself.
///
/// # Safety
/// `mutex` points to an initialized mutex.
unsafe fn can_use_glibcs(mutex: *const pthread_mutex_t) -> bool {
    // SAFETY: by this function's contract.
    !replaces() || unsafe { !mutex_kind(mutex).is_plain() }
}

/// Waits on one of our variables. A cancellation point.
///
/// # Safety
/// As for `pthread_cond_wait`.
unsafe fn wait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: Option<Deadline>,
) -> c_int {
    // SAFETY: the caller keeps the contract of the function that it meant to call.
    let counted = unsafe { mutex::join_conditions(mutex) };
    let mut waiter = Waiter::new(cond, mutex, counted, deadline, cancelled);
    let waiter = &raw mut waiter;
    // SAFETY: the waiter stays in this frame until it is off the list for good, even if the
    // thread is cancelled. Nothing here needs dropping.
    unsafe {
        Condvar::of(cond).condition.enlist(&raw mut (*waiter).sleeper, process::current());
        let refused = (functions().unlock)(mutex);
        if refused != 0 {
            retreat(waiter);
            if counted {
                mutex::leave_conditions(mutex);
            }
            return refused;
        }
        let timed_out = Waiter::sleep(waiter);
        let unwoken = finish(waiter, timed_out);
        let locked = (functions().lock)(mutex);
        if counted {
            mutex::leave_conditions(mutex);
        }
        if locked == 0 && unwoken { libc::ETIMEDOUT } else { locked }
    }
}

/// Settles the affairs of a waiter that has slept; whether it was not woken but timed out.
///
/// # Safety
/// `waiter` is the calling thread's, listed by [`wait`].
unsafe fn finish(waiter: *mut Waiter, timed_out: bool) -> bool {
    // SAFETY: the variable lives as long as a waiter is listed or owes a report.
    unsafe {
        let end = if timed_out {
            Sleeper::leave(&raw const (*waiter).sleeper)
        } else {
            Err((*waiter).sleeper.state.load(core::sync::atomic::Ordering::Acquire))
        };
        match end {
            Ok(()) => {
                let condition = &Condvar::of((*waiter).cond).condition;
                condition.delist(&raw mut (*waiter).sleeper, process::current());
            }
            Err(sleeper_state::WOKEN_AMONG) => Condvar::of((*waiter).cond).condition.depart(),
            Err(_) => {}
        }
        end.is_ok()
    }
}

/// Takes a waiter off the list that will not wait after all, and passes a signal on that it got.
///
/// # Safety
/// `waiter` is the calling thread's, listed by [`wait`].
unsafe fn retreat(waiter: *mut Waiter) {
    // SAFETY: as in `finish`.
    unsafe {
        let cond = (*waiter).cond;
        match Sleeper::leave(&raw const (*waiter).sleeper) {
            Ok(()) => {
                Condvar::of(cond).condition.delist(&raw mut (*waiter).sleeper, process::current())
            }
            Err(sleeper_state::WOKEN_AMONG) => {
                Condvar::of(cond).condition.signal(process::current());
                Condvar::of(cond).condition.depart();
            }
            Err(_) => {}
        }
    }
}

/// Called when a thread is cancelled in its sleep: it must hold the mutex before the program's
/// own clean-up runs.
unsafe extern "C" fn cancelled(waiter: *mut c_void) {
    let waiter = waiter.cast::<Waiter>();
    // SAFETY: the waiter that `wait` put to sleep, in a frame that still stands.
    unsafe {
        retreat(waiter);
        (functions().lock)((*waiter).mutex);
        if (*waiter).counted {
            mutex::leave_conditions((*waiter).mutex);
        }
    }
}
