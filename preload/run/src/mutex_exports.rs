//! The mutex functions that the program calls instead of glibc's.
//!
//! If glibc had a second name with two leading underscores for a function, the function is exported
//! under that name too. Old programs and the libraries of older glibc versions call these names. A
//! mutex must not be locked by one algorithm and unlocked by another.

use kilocore_preload_common::real;
use libc::{c_int, clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};

use crate::choice::functions;

/// Exports functions that pass their arguments on. Each is exported under one or more names.
macro_rules! export {
    ($($doc:literal $($name:ident)/+ = $args:tt $call:expr;)*) => {
        $($(export!(@function $doc $name $args $call);)+)*
    };
    (@function $doc:literal $name:ident ($($arg:ident: $type:ty),*) $call:expr) => {
        #[doc = $doc]
        ///
        /// # Safety
        /// The contract is that of the POSIX function.
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the program keeps the contract of the function that it meant to call.
            unsafe { $call }
        }
    };
}

export! {
    // glibc's own function is right for this: it writes the kind, and zeros where the lock will be.
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
