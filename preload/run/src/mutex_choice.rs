//! The choice of the lock that this process uses for mutexes.

use kilocore_locks::{LockId, UnknownLock};
use libc::{c_int, clockid_t, pthread_mutex_t, timespec};

use crate::choice::Choice;
use crate::host::Host;
use crate::mutex::{self, Functions, FunctionsOf};

static MUTEXES: Choice<Functions> =
    Choice::new("KILOCORE_LOCK", "mutexes", named, &mutex::GLIBC, &UNDECIDED);

/// Returns the mutex functions of this process.
#[inline(always)]
pub(crate) fn functions() -> &'static Functions {
    MUTEXES.functions()
}

/// Returns whether plain mutexes, and with them condition variables, are replaced in this process.
#[inline]
pub(crate) fn replaces() -> bool {
    MUTEXES.replaces()
}

fn named(name: &str) -> Result<&'static Functions, &'static dyn core::fmt::Display> {
    match name.parse::<LockId>() {
        Ok(lock) => Ok(lock.visit::<Host, _>(FunctionsOf)),
        Err(UnknownLock) => Err(&UnknownLock),
    }
}

/// The functions until the choice is made. Each of them makes the choice and then calls the chosen
/// function.
static UNDECIDED: Functions = {
    unsafe extern "C-unwind" fn lock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: this passes on the program's argument, here and below.
        unsafe { (MUTEXES.decided().lock)(mutex) }
    }
    unsafe extern "C-unwind" fn trylock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { (MUTEXES.decided().trylock)(mutex) }
    }
    unsafe extern "C-unwind" fn clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { (MUTEXES.decided().clocklock)(mutex, clock, time) }
    }
    unsafe extern "C-unwind" fn unlock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { (MUTEXES.decided().unlock)(mutex) }
    }
    unsafe extern "C-unwind" fn destroy(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { (MUTEXES.decided().destroy)(mutex) }
    }
    Functions { prepare: || {}, lock, trylock, clocklock, unlock, destroy }
};
