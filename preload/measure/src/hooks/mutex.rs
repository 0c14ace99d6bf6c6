//! The functions `pthread_mutex_*`.
//!
//! Only `pthread_mutex_lock` of an ordinary mutex tries the mutex first. With a deadline, the
//! wrapper cannot do so: whether glibc checks the deadline or the clock of a free mutex differs
//! between kinds of mutexes and between versions of glibc.

use core::ffi::c_int;

use kilocore_preload_common::real;
use libc::{clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};

use crate::mode::Mode;
use crate::object::Mutex;
use crate::recorder::Recorder;

/// Exports wrappers. Each is also exported under a second name, which is used by programs that were
/// linked with old versions of glibc, and by parts of old versions of glibc itself.
macro_rules! export {
    ($($(#[$meta:meta])* fn $name:ident, $old_name:ident($($arg:ident: $type:ty),*) $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// The contract is that of the POSIX function.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int $body

        /// The same function under its old name.
        ///
        /// # Safety
        /// The contract is that of the POSIX function.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $old_name($($arg: $type),*) -> c_int {
            // SAFETY: the caller keeps the same contract.
            unsafe { $name($($arg),*) }
        }
    )*};
}

export! {
    /// Initializes a mutex, and records where.
    fn pthread_mutex_init, __pthread_mutex_init(
        mutex: *mut pthread_mutex_t,
        attr: *const pthread_mutexattr_t
    ) {
        // SAFETY: this passes on the caller's arguments unchanged, here and in the functions below.
        let result = unsafe { real::pthread_mutex_init(mutex, attr) };
        if let (0, Some(recorder)) = (result, Recorder::enter()) {
            recorder.initialized(Mutex(mutex));
        }
        result
    }

    /// Destroys a mutex: what lies at its address later is another lock.
    fn pthread_mutex_destroy, __pthread_mutex_destroy(mutex: *mut pthread_mutex_t) {
        // SAFETY: as above.
        let result = unsafe { real::pthread_mutex_destroy(mutex) };
        if let (0, Some(recorder)) = (result, Recorder::enter()) {
            recorder.destroyed(Mutex(mutex));
        }
        result
    }

    /// Locks a mutex, and records the acquisition and the wait.
    fn pthread_mutex_lock, __pthread_mutex_lock(mutex: *mut pthread_mutex_t) {
        let Some(recorder) = Recorder::enter() else {
            // SAFETY: as above.
            return unsafe { real::pthread_mutex_lock(mutex) };
        };
        // SAFETY: as above.
        let take = || unsafe { real::pthread_mutex_lock(mutex) };
        if !Mutex(mutex).is_tried_unseen() {
            return recorder.acquire_at_once(Mutex(mutex), Mode::Exclusive, take);
        }
        // SAFETY: as above.
        let try_lock = || unsafe { real::pthread_mutex_trylock(mutex) };
        recorder.acquire(Mutex(mutex), Mode::Exclusive, try_lock, take)
    }

    /// Locks a mutex if that is possible without waiting.
    fn pthread_mutex_trylock, __pthread_mutex_trylock(mutex: *mut pthread_mutex_t) {
        // SAFETY: as above.
        let try_lock = || unsafe { real::pthread_mutex_trylock(mutex) };
        let Some(recorder) = Recorder::enter() else { return try_lock() };
        recorder.attempt(Mutex(mutex), Mode::Exclusive, try_lock)
    }

    /// Unlocks a mutex, and records the hold.
    fn pthread_mutex_unlock, __pthread_mutex_unlock(mutex: *mut pthread_mutex_t) {
        let Some(recorder) = Recorder::enter() else {
            // SAFETY: as above.
            return unsafe { real::pthread_mutex_unlock(mutex) };
        };
        let released = recorder.releasing(mutex as usize);
        // SAFETY: as above.
        let result = unsafe { real::pthread_mutex_unlock(mutex) };
        recorder.released(released);
        result
    }
}

/// Locks a mutex before a deadline.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C-unwind" fn pthread_mutex_timedlock(
    mutex: *mut pthread_mutex_t,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: this passes on the caller's arguments unchanged.
    let lock = || unsafe { real::pthread_mutex_timedlock(mutex, deadline) };
    let Some(recorder) = Recorder::enter() else { return lock() };
    recorder.acquire_at_once(Mutex(mutex), Mode::Exclusive, lock)
}

/// Locks a mutex before a deadline on a given clock.
///
/// # Safety
/// The contract is that of the glibc function.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_mutex_clocklock(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: this passes on the caller's arguments unchanged.
    let lock = || unsafe { real::pthread_mutex_clocklock(mutex, clock, deadline) };
    let Some(recorder) = Recorder::enter() else { return lock() };
    recorder.acquire_at_once(Mutex(mutex), Mode::Exclusive, lock)
}
