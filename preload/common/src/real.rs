//! The C library's own functions for mutexes, condition variables, read-write locks, barriers and
//! spin locks. They can be called here although a preloaded library has displaced them.
//!
//! Each function has the contract of the POSIX function of the same name. The `clock` forms are
//! glibc's. A function returns `ENOSYS` if this C library does not have it; glibc before 2.30 lacks
//! the `clock` forms.

use libc::{
    clockid_t, pthread_barrier_t, pthread_barrierattr_t, pthread_cond_t, pthread_condattr_t,
    pthread_mutex_t, pthread_mutexattr_t, pthread_rwlock_t, pthread_rwlockattr_t,
    pthread_spinlock_t, timespec,
};

use crate::real_functions;

real_functions! {
    /// Initializes a mutex with attributes, which may be null.
    pub fn pthread_mutex_init(
        mutex: *mut pthread_mutex_t,
        attr: *const pthread_mutexattr_t,
    ) -> libc::c_int;
    /// Destroys a mutex that nobody holds.
    pub fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> libc::c_int;
    /// Locks a mutex, and waits as long as another thread holds it.
    pub fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> libc::c_int;
    /// Locks a mutex if that is possible without waiting.
    pub fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> libc::c_int;
    /// Locks a mutex before a deadline on `CLOCK_REALTIME`.
    pub fn pthread_mutex_timedlock(
        mutex: *mut pthread_mutex_t,
        deadline: *const timespec,
    ) -> libc::c_int;
    /// Locks a mutex before a deadline on a given clock.
    pub fn pthread_mutex_clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        deadline: *const timespec,
    ) -> libc::c_int;
    /// Unlocks a mutex that the caller holds.
    pub fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> libc::c_int;

    /// Initializes a condition variable.
    pub fn pthread_cond_init(
        cond: *mut pthread_cond_t,
        attr: *const pthread_condattr_t,
    ) -> libc::c_int = "GLIBC_2.3.2";
    /// Destroys a condition variable.
    pub fn pthread_cond_destroy(cond: *mut pthread_cond_t) -> libc::c_int = "GLIBC_2.3.2";
    /// Waits for a condition variable. This is a cancellation point.
    pub fn pthread_cond_wait(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
    ) -> libc::c_int = "GLIBC_2.3.2";
    /// Waits for a condition variable until a deadline. This is a cancellation point.
    pub fn pthread_cond_timedwait(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        deadline: *const timespec,
    ) -> libc::c_int = "GLIBC_2.3.2";
    /// Waits for a condition variable until a deadline on a given clock. This is a cancellation
    /// point.
    pub fn pthread_cond_clockwait(
        cond: *mut pthread_cond_t,
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        deadline: *const timespec,
    ) -> libc::c_int;
    /// Wakes one waiter of a condition variable.
    pub fn pthread_cond_signal(cond: *mut pthread_cond_t) -> libc::c_int = "GLIBC_2.3.2";
    /// Wakes all waiters of a condition variable.
    pub fn pthread_cond_broadcast(cond: *mut pthread_cond_t) -> libc::c_int = "GLIBC_2.3.2";

    /// Initializes a read-write lock.
    pub fn pthread_rwlock_init(
        lock: *mut pthread_rwlock_t,
        attr: *const pthread_rwlockattr_t,
    ) -> libc::c_int;
    /// Destroys a read-write lock.
    pub fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> libc::c_int;
    /// Locks for reading, and waits as long as a writer holds the lock.
    pub fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t) -> libc::c_int;
    /// Locks for reading if that is possible without waiting.
    pub fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> libc::c_int;
    /// Locks for reading before a deadline on `CLOCK_REALTIME`.
    pub fn pthread_rwlock_timedrdlock(
        lock: *mut pthread_rwlock_t,
        deadline: *const timespec,
    ) -> libc::c_int;
    /// Locks for reading before a deadline on a given clock.
    pub fn pthread_rwlock_clockrdlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        deadline: *const timespec,
    ) -> libc::c_int;
    /// Locks for writing, and waits as long as anybody else holds the lock.
    pub fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t) -> libc::c_int;
    /// Locks for writing if that is possible without waiting.
    pub fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> libc::c_int;
    /// Locks for writing before a deadline on `CLOCK_REALTIME`.
    pub fn pthread_rwlock_timedwrlock(
        lock: *mut pthread_rwlock_t,
        deadline: *const timespec,
    ) -> libc::c_int;
    /// Locks for writing before a deadline on a given clock.
    pub fn pthread_rwlock_clockwrlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        deadline: *const timespec,
    ) -> libc::c_int;
    /// Unlocks a read-write lock.
    pub fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> libc::c_int;

    /// Initializes a barrier for `count` threads.
    pub fn pthread_barrier_init(
        barrier: *mut pthread_barrier_t,
        attr: *const pthread_barrierattr_t,
        count: libc::c_uint,
    ) -> libc::c_int;
    /// Destroys a barrier at which nobody waits.
    pub fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> libc::c_int;
    /// Waits until all threads have come to the barrier.
    pub fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> libc::c_int;

    /// Initializes a spin lock.
    pub fn pthread_spin_init(
        lock: *mut pthread_spinlock_t,
        shared: libc::c_int,
    ) -> libc::c_int;
    /// Destroys a spin lock.
    pub fn pthread_spin_destroy(lock: *mut pthread_spinlock_t) -> libc::c_int;
    /// Locks a spin lock.
    pub fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> libc::c_int;
    /// Locks a spin lock if that is possible without waiting.
    pub fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> libc::c_int;
    /// Unlocks a spin lock.
    pub fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> libc::c_int;
}
