//! The functions of condition variables that the program calls instead of glibc's.
//!
//! There are three cases. If this library replaces nothing in the process, glibc's functions are
//! called. If the variable is shared by processes, glibc handles it too. Otherwise it is a
//! [`Condvar`], whatever kind of mutex is used with it.

use core::ffi::c_void;
use core::ptr;

use kilocore_locks::{Sleeper, sleeper_state};
use kilocore_preload_common::{condattr, mutex_kind, real};
use libc::{c_int, clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec};

use crate::condvar::Condvar;
use crate::deadline::Deadline;
use crate::mutex;
use crate::mutex_choice::{functions, replaces};
use crate::waiter::Waiter;
use crate::{process, shared_condvar};

/// Initializes a condition variable.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_cond_init(
    cond: *mut pthread_cond_t,
    attr: *const pthread_condattr_t,
) -> c_int {
    // SAFETY: the program keeps the contract of the function that it meant to call, here and below.
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

/// Destroys a condition variable. Waits for threads that still use it.
///
/// # Safety
/// The contract is that of the POSIX function.
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
/// The contract is that of the POSIX function.
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
/// The contract is that of the POSIX function.
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

/// Waits until a thread wakes the caller. This is a cancellation point.
///
/// # Safety
/// The contract is that of the POSIX function.
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

/// Waits until a thread wakes the caller, or until a deadline on the variable's clock. This is a
/// cancellation point.
///
/// # Safety
/// The contract is that of the POSIX function.
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

/// Waits until a thread wakes the caller, or until a deadline on a given clock. This is a
/// cancellation point.
///
/// # Safety
/// The contract is that of the glibc function.
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

/// Returns whether glibc handles `cond`.
///
/// # Safety
/// `cond` points to an initialized condition variable.
#[inline]
unsafe fn is_glibcs(cond: *const pthread_cond_t) -> bool {
    // SAFETY: by the caller's promise.
    !replaces() || unsafe { shared_condvar::is_shared(cond) }
}

/// Returns whether glibc may unlock and lock `mutex` by itself.
///
/// # Safety
/// `mutex` points to an initialized mutex.
unsafe fn can_use_glibcs(mutex: *const pthread_mutex_t) -> bool {
    // SAFETY: by the caller's promise.
    !replaces() || unsafe { !mutex_kind(mutex).is_plain() }
}

/// Waits for one of our condition variables. This is a cancellation point.
///
/// # Safety
/// As for `pthread_cond_wait`.
unsafe fn wait(
    cond: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    deadline: Option<Deadline>,
) -> c_int {
    // SAFETY: the program keeps the contract of the function that it meant to call.
    let counted = unsafe { mutex::join_conditions(mutex) };
    let mut waiter = Waiter::new(cond, mutex, counted, deadline, cancelled);
    let waiter = &raw mut waiter;
    // SAFETY: the waiter stays in this frame until it is no longer on the list, even if the thread
    // is cancelled. Nothing here needs dropping.
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

/// Does what is left to do for a waiter that has slept. Returns whether it timed out without having
/// been woken.
///
/// # Safety
/// `waiter` belongs to the calling thread, and [`wait`] has put it on the list.
unsafe fn finish(waiter: *mut Waiter, timed_out: bool) -> bool {
    // SAFETY: the variable lives while a waiter is on its list or has not yet departed.
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

/// Takes a waiter off the list that will not wait any longer. If it was signalled already, the
/// signal is passed on to another waiter.
///
/// # Safety
/// `waiter` belongs to the calling thread, and [`wait`] has put it on the list.
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

/// Is called when a thread is cancelled in its sleep. The thread must hold the mutex before the
/// program's own clean-up runs.
unsafe extern "C" fn cancelled(waiter: *mut c_void) {
    let waiter = waiter.cast::<Waiter>();
    // SAFETY: this is the waiter that `wait` has put to sleep. Its frame has not been unwound yet.
    unsafe {
        retreat(waiter);
        (functions().lock)((*waiter).mutex);
        if (*waiter).counted {
            mutex::leave_conditions((*waiter).mutex);
        }
    }
}
