//! The choice of the lock that this process uses for read-write locks.

use core::fmt;

use kilocore_locks::RwLockId;
use libc::{c_int, clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec};

use crate::choice::Choice;
use crate::host::Host;
use crate::rwlock::{self, Functions, FunctionsOf};

static RWLOCKS: Choice<Functions> =
    Choice::new("KILOCORE_RWLOCK", "read-write locks", named, &rwlock::GLIBC, &UNDECIDED);

/// Returns the read-write lock functions of this process.
#[inline(always)]
pub(crate) fn functions() -> &'static Functions {
    RWLOCKS.functions()
}

/// Returns whether read-write locks are replaced in this process.
pub(crate) fn replaces() -> bool {
    RWLOCKS.replaces()
}

fn named(name: &str) -> Result<&'static Functions, &'static dyn fmt::Display> {
    match name.parse::<RwLockId>() {
        Ok(lock) if lock.is_for_programs::<Host>() => Ok(lock.visit::<Host, _>(FunctionsOf)),
        _ => Err(&NotForPrograms),
    }
}

/// The error for a name that no lock for programs has.
struct NotForPrograms;

impl fmt::Display for NotForPrograms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown read-write lock; known are ")?;
        for (i, lock) in RwLockId::for_programs::<Host>().enumerate() {
            write!(f, "{}{lock}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// Defines functions that make the choice and then call the chosen function.
macro_rules! undecided {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => {
        /// The functions until the choice is made.
        static UNDECIDED: Functions = {
            $(
                unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
                    // SAFETY: this passes on the program's arguments.
                    unsafe { (RWLOCKS.decided().$name)($($arg),*) }
                }
            )*
            Functions { $($name),* }
        };
    };
}

undecided! {
    init(lock: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t);
    destroy(lock: *mut pthread_rwlock_t);
    rdlock(lock: *mut pthread_rwlock_t);
    tryrdlock(lock: *mut pthread_rwlock_t);
    clockrdlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec);
    wrlock(lock: *mut pthread_rwlock_t);
    trywrlock(lock: *mut pthread_rwlock_t);
    clockwrlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec);
    unlock(lock: *mut pthread_rwlock_t);
}
