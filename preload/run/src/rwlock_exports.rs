//! The read-write lock functions that the program calls instead of glibc's.

use libc::{c_int, clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec};

use crate::export::export;
use crate::rwlock_choice::functions;

export! {
    "Initializes a read-write lock."
    pthread_rwlock_init / __pthread_rwlock_init
        = (lock: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t)
            (functions().init)(lock, attr);
    "Destroys a read-write lock; `EBUSY` if a writer holds it."
    pthread_rwlock_destroy / __pthread_rwlock_destroy
        = (lock: *mut pthread_rwlock_t) (functions().destroy)(lock);
    "Locks for reading."
    pthread_rwlock_rdlock / __pthread_rwlock_rdlock
        = (lock: *mut pthread_rwlock_t) (functions().rdlock)(lock);
    "Locks for reading unless that takes waiting; `EBUSY` if it does."
    pthread_rwlock_tryrdlock / __pthread_rwlock_tryrdlock
        = (lock: *mut pthread_rwlock_t) (functions().tryrdlock)(lock);
    "Locks for reading before a deadline on the real-time clock."
    pthread_rwlock_timedrdlock
        = (lock: *mut pthread_rwlock_t, time: *const timespec)
            (functions().clockrdlock)(lock, libc::CLOCK_REALTIME, time);
    "Locks for reading before a deadline on a given clock."
    pthread_rwlock_clockrdlock
        = (lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec)
            (functions().clockrdlock)(lock, clock, time);
    "Locks for writing."
    pthread_rwlock_wrlock / __pthread_rwlock_wrlock
        = (lock: *mut pthread_rwlock_t) (functions().wrlock)(lock);
    "Locks for writing unless that takes waiting; `EBUSY` if it does."
    pthread_rwlock_trywrlock / __pthread_rwlock_trywrlock
        = (lock: *mut pthread_rwlock_t) (functions().trywrlock)(lock);
    "Locks for writing before a deadline on the real-time clock."
    pthread_rwlock_timedwrlock
        = (lock: *mut pthread_rwlock_t, time: *const timespec)
            (functions().clockwrlock)(lock, libc::CLOCK_REALTIME, time);
    "Locks for writing before a deadline on a given clock."
    pthread_rwlock_clockwrlock
        = (lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec)
            (functions().clockwrlock)(lock, clock, time);
    "Unlocks what was locked for reading or writing."
    pthread_rwlock_unlock / __pthread_rwlock_unlock
        = (lock: *mut pthread_rwlock_t) (functions().unlock)(lock);
}
