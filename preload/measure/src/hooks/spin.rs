//! The functions `pthread_spin_*`.

use core::ffi::c_int;

use kilocore_preload_common::real;
use libc::pthread_spinlock_t;

use crate::mode::Mode;
use crate::object::Spin;
use crate::recorder::Recorder;

/// Initializes a spin lock.
///
/// # Safety
/// The contract is that of the POSIX function, here and below.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_init(
    lock: *mut pthread_spinlock_t,
    shared: c_int,
) -> c_int {
    // SAFETY: this passes on the caller's arguments unchanged, here and below.
    let result = unsafe { real::pthread_spin_init(lock, shared) };
    if let (0, Some(recorder)) = (result, Recorder::enter()) {
        recorder.initialized(Spin(lock));
    }
    result
}

/// Destroys a spin lock.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_destroy(lock: *mut pthread_spinlock_t) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real::pthread_spin_destroy(lock) };
    if let (0, Some(recorder)) = (result, Recorder::enter()) {
        recorder.destroyed(Spin(lock));
    }
    result
}

/// Locks a spin lock.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_lock(lock: *mut pthread_spinlock_t) -> c_int {
    // SAFETY: as above.
    let take = || unsafe { real::pthread_spin_lock(lock) };
    let Some(recorder) = Recorder::enter() else { return take() };
    // SAFETY: as above.
    let try_lock = || unsafe { real::pthread_spin_trylock(lock) };
    recorder.acquire(Spin(lock), Mode::Exclusive, try_lock, take)
}

/// Locks a spin lock if that is possible without waiting.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_trylock(lock: *mut pthread_spinlock_t) -> c_int {
    // SAFETY: as above.
    let try_lock = || unsafe { real::pthread_spin_trylock(lock) };
    let Some(recorder) = Recorder::enter() else { return try_lock() };
    recorder.attempt(Spin(lock), Mode::Exclusive, try_lock)
}

/// Unlocks a spin lock.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_spin_unlock(lock: *mut pthread_spinlock_t) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: as above.
        return unsafe { real::pthread_spin_unlock(lock) };
    };
    let released = recorder.releasing(lock as usize);
    // SAFETY: as above.
    let result = unsafe { real::pthread_spin_unlock(lock) };
    recorder.released(released);
    result
}
