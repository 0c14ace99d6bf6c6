//! The mutex functions that the program finds instead of glibc's.
//!
//! Each exists under a second name, with two underscores in front, wherever glibc had one: old
//! programs and the libraries of older glibc versions call those, and one mutex must not be locked
//! by one algorithm and unlocked by another.

use kilocore_preload_common::real;
use libc::{c_int, clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};

use crate::choice::functions;

/// Exports functions, each under one or more names, that pass their arguments on.
macro_rules! export {
    ($($doc:literal $($name:ident)/+ = $args:tt $call:expr;)*) => {
        $($(export!(@function $doc $name $args $call);)+)*
    };
    (@function $doc:literal $name:ident ($($arg:ident: $type:ty),*) $call:expr) => {
        #[doc = $doc]
        ///
        /// # Safety
        /// As POSIX has it for this function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the caller keeps the contract of the function it meant to call.
            unsafe { $call }
        }
    };
}

export! {
    // glibc's own does that right: it leaves zeroes where the lock will be, and the kind.
    "Initializes a mutex."
    pthread_mutex_init / __pthread_mutex_init
        = (mutex: *mut pthread_mutex_t, attr: *const pthread_mutexattr_t)
            real::pthread_mutex_init(mutex, attr);
    "Destroys a mutex; `EBUSY` if it is held."
    pthread_mutex_destroy / __pthread_mutex_destroy
        = (mutex: *mut pthread_mutex_t) (functions().destroy)(mutex);
    "Locks a mutex."
    pthread_mutex_lock / __pthread_mutex_lock
        = (mutex: *mut pthread_mutex_t) (functions().lock)(mutex);
    "Locks a mutex unless that takes waiting; `EBUSY` if it does."
    pthread_mutex_trylock / __pthread_mutex_trylock
        = (mutex: *mut pthread_mutex_t) (functions().trylock)(mutex);
    "Locks a mutex before a deadline on the real-time clock."
    pthread_mutex_timedlock
        = (mutex: *mut pthread_mutex_t, time: *const timespec)
            (functions().clocklock)(mutex, libc::CLOCK_REALTIME, time);
    "Locks a mutex before a deadline on a given clock."
    pthread_mutex_clocklock
        = (mutex: *mut pthread_mutex_t, clock: clockid_t, time: *const timespec)
            (functions().clocklock)(mutex, clock, time);
    "Unlocks a mutex. Any thread may do it."
    pthread_mutex_unlock / __pthread_mutex_unlock
        = (mutex: *mut pthread_mutex_t) (functions().unlock)(mutex);
}
