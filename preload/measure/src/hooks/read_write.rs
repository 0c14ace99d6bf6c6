//! The functions `pthread_rwlock_*`.

use core::ffi::c_int;

use kilocore_preload_common::real;
use libc::{clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec};

use crate::mode::Mode;
use crate::object::ReadWrite;
use crate::recorder::Recorder;

/// Initializes a read-write lock.
///
/// # Safety
/// The contract is that of the POSIX function, here and below.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_init(
    lock: *mut pthread_rwlock_t,
    attr: *const pthread_rwlockattr_t,
) -> c_int {
    // SAFETY: this passes on the caller's arguments unchanged, here and below.
    let result = unsafe { real::pthread_rwlock_init(lock, attr) };
    if let (0, Some(recorder)) = (result, Recorder::enter()) {
        recorder.initialized(ReadWrite(lock));
    }
    result
}

/// Destroys a read-write lock.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real::pthread_rwlock_destroy(lock) };
    if let (0, Some(recorder)) = (result, Recorder::enter()) {
        recorder.destroyed(ReadWrite(lock));
    }
    result
}

/// Exports functions that wait. If the name of a try function is given, the wrapper tries the lock
/// first. Otherwise it calls the C library's own function at once.
macro_rules! export_waiting {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),*) = $mode:ident $(, $try_lock:ident)?;)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        /// As above.
        #[unsafe(no_mangle)]
        unsafe extern "C-unwind" fn $name(lock: *mut pthread_rwlock_t, $($arg: $type),*) -> c_int {
            // SAFETY: as above.
            let take = || unsafe { real::$name(lock, $($arg),*) };
            let Some(recorder) = Recorder::enter() else { return take() };
            export_waiting!(@take recorder lock take $mode $($try_lock)?)
        }
    )*};
    (@take $recorder:ident $lock:ident $take:ident $mode:ident) => {
        $recorder.acquire_at_once(ReadWrite($lock), Mode::$mode, $take)
    };
    (@take $recorder:ident $lock:ident $take:ident $mode:ident $try_lock:ident) => {{
        // SAFETY: as above.
        let try_lock = || unsafe { real::$try_lock($lock) };
        $recorder.acquire(ReadWrite($lock), Mode::$mode, try_lock, $take)
    }};
}

// The functions with a deadline do not try first: they check the deadline and the clock even if the
// lock is free, which a try does not do.
export_waiting! {
    /// Locks for reading, and records the acquisition and the wait.
    fn pthread_rwlock_rdlock() = Shared, pthread_rwlock_tryrdlock;
    /// Locks for writing, and records the acquisition and the wait.
    fn pthread_rwlock_wrlock() = Exclusive, pthread_rwlock_trywrlock;
    /// Locks for reading before a deadline.
    fn pthread_rwlock_timedrdlock(deadline: *const timespec) = Shared;
    /// Locks for writing before a deadline.
    fn pthread_rwlock_timedwrlock(deadline: *const timespec) = Exclusive;
    /// Locks for reading before a deadline on a given clock.
    fn pthread_rwlock_clockrdlock(clock: clockid_t, deadline: *const timespec) = Shared;
    /// Locks for writing before a deadline on a given clock.
    fn pthread_rwlock_clockwrlock(clock: clockid_t, deadline: *const timespec) = Exclusive;
}

/// Locks for reading if that is possible without waiting.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: as above.
    let try_lock = || unsafe { real::pthread_rwlock_tryrdlock(lock) };
    let Some(recorder) = Recorder::enter() else { return try_lock() };
    recorder.attempt(ReadWrite(lock), Mode::Shared, try_lock)
}

/// Locks for writing if that is possible without waiting.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
    // SAFETY: as above.
    let try_lock = || unsafe { real::pthread_rwlock_trywrlock(lock) };
    let Some(recorder) = Recorder::enter() else { return try_lock() };
    recorder.attempt(ReadWrite(lock), Mode::Exclusive, try_lock)
}

/// Unlocks a read-write lock.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: as above.
        return unsafe { real::pthread_rwlock_unlock(lock) };
    };
    let released = recorder.releasing(lock as usize);
    // SAFETY: as above.
    let result = unsafe { real::pthread_rwlock_unlock(lock) };
    recorder.released(released);
    result
}
