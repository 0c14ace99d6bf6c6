//! The mutex functions that the program calls instead of glibc's.

use kilocore_preload_common::real;
use libc::{c_int, clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};

use crate::export::export;
use crate::mutex_choice::functions;

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
