//! The functions of read-write locks, implemented with any such lock. Locks that processes share
//! are passed to glibc.

use core::marker::PhantomData;

use kilocore_locks::{RawRwLock, RwLockVisitor};
use kilocore_preload_common::real;
use kilocore_preload_common::rwlock::is_process_shared;
use libc::{c_int, clockid_t, pthread_rwlock_t, pthread_rwlockattr_t, timespec};

use crate::deadline::Deadline;
use crate::host::Host;
use crate::read_holds::TooOften;
use crate::replaced_rwlock::Replaced;
use crate::{glibcs_timed, rwlock_wait, slot};

/// Makes the table of functions, and the table of glibc's own.
macro_rules! functions {
    ($($name:ident($($arg:ident: $type:ty),*) = $real:expr;)*) => {
        /// The functions of one read-write lock, or glibc's own.
        #[allow(missing_debug_implementations)]
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C-unwind" fn($($type),*) -> c_int,)*
        }

        impl<L: RawRwLock<Host>> With<L> {
            const FUNCTIONS: Functions = Functions { $($name: Self::$name),* };
        }

        /// glibc's own functions, for a process in which read-write locks are not replaced.
        pub(crate) static GLIBC: Functions = {
            $(
                unsafe extern "C-unwind" fn $name($($arg: $type),*) -> c_int {
                    // SAFETY: this passes on the program's arguments.
                    unsafe { $real($($arg),*) }
                }
            )*
            Functions { $($name),* }
        };
    };
}

functions! {
    init(lock: *mut pthread_rwlock_t, attr: *const pthread_rwlockattr_t)
        = real::pthread_rwlock_init;
    destroy(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_destroy;
    rdlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_rdlock;
    tryrdlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_tryrdlock;
    clockrdlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec)
        = glibcs_timed::clockrdlock;
    wrlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_wrlock;
    trywrlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_trywrlock;
    clockwrlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec)
        = glibcs_timed::clockwrlock;
    unlock(lock: *mut pthread_rwlock_t) = real::pthread_rwlock_unlock;
}

/// Returns the functions of a lock type.
pub(crate) struct FunctionsOf;

impl RwLockVisitor<Host> for FunctionsOf {
    type Output = &'static Functions;

    fn visit<L: RawRwLock<Host>>(self) -> &'static Functions {
        &With::<L>::FUNCTIONS
    }
}

/// The functions, implemented with lock `L`.
struct With<L>(PhantomData<L>);

impl<L: RawRwLock<Host>> With<L> {
    unsafe extern "C-unwind" fn init(
        lock: *mut pthread_rwlock_t,
        attr: *const pthread_rwlockattr_t,
    ) -> c_int {
        // SAFETY: the memory is the program's, for a lock that nobody uses yet. glibc's function
        // initializes all of it, and this library may do so with its part.
        unsafe {
            let result = real::pthread_rwlock_init(lock, attr);
            if result == 0 && !is_process_shared(lock) {
                Replaced::<L>::of(lock).reset();
            }
            result
        }
    }

    unsafe extern "C-unwind" fn destroy(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: the program passes an initialized lock, here and in the functions below.
        unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_destroy(lock);
            }
            if Replaced::<L>::of(lock).end() { 0 } else { libc::EBUSY }
        }
    }

    unsafe extern "C-unwind" fn rdlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`. A lock that processes share is not plain.
        unsafe {
            let this = Replaced::<L>::of(lock);
            if !this.is_plain() || !slot::read_holds().is_empty() {
                return Self::rdlock_with_care(lock);
            }
            this.read()
        }
    }

    /// # Safety
    /// As for `pthread_rwlock_rdlock`.
    #[cold]
    #[inline(never)]
    unsafe extern "C-unwind" fn rdlock_with_care(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_rdlock(lock);
            }
            Replaced::<L>::of(lock).read_with_care()
        }
    }

    unsafe extern "C-unwind" fn tryrdlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        let this = unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_tryrdlock(lock);
            }
            Replaced::<L>::of(lock)
        };
        match this.enter_again() {
            Ok(true) => 0,
            Ok(false) => this.try_read().map_or(libc::EBUSY, |()| 0),
            Err(TooOften) => libc::EAGAIN,
        }
    }

    unsafe extern "C-unwind" fn clockrdlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as in `destroy`. `time` is the program's timespec.
        let (this, deadline) = unsafe {
            if is_process_shared(lock) {
                return glibcs_timed::clockrdlock(lock, clock, time);
            }
            (Replaced::<L>::of(lock), Deadline::new(clock, time))
        };
        match deadline {
            Err(error) => error,
            Ok(_) if this.is_mine() => libc::EDEADLK,
            Ok(deadline) => match this.enter_again() {
                Ok(true) => 0,
                Ok(false) => {
                    rwlock_wait::until(deadline, || this.try_read()).map_or(libc::ETIMEDOUT, |()| 0)
                }
                Err(TooOften) => libc::EAGAIN,
            },
        }
    }

    unsafe extern "C-unwind" fn wrlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `rdlock`.
        unsafe {
            let this = Replaced::<L>::of(lock);
            if !this.is_plain() {
                return Self::wrlock_with_care(lock);
            }
            this.write();
        }
        0
    }

    /// # Safety
    /// As for `pthread_rwlock_wrlock`.
    #[cold]
    #[inline(never)]
    unsafe extern "C-unwind" fn wrlock_with_care(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_wrlock(lock);
            }
            Replaced::<L>::of(lock).write_with_care()
        }
    }

    unsafe extern "C-unwind" fn trywrlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `destroy`.
        let this = unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_trywrlock(lock);
            }
            Replaced::<L>::of(lock)
        };
        this.try_write().map_or(libc::EBUSY, |()| 0)
    }

    unsafe extern "C-unwind" fn clockwrlock(
        lock: *mut pthread_rwlock_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as in `clockrdlock`.
        let (this, deadline) = unsafe {
            if is_process_shared(lock) {
                return glibcs_timed::clockwrlock(lock, clock, time);
            }
            (Replaced::<L>::of(lock), Deadline::new(clock, time))
        };
        match deadline {
            Err(error) => error,
            Ok(_) if this.is_mine() => libc::EDEADLK,
            Ok(deadline) => {
                rwlock_wait::until(deadline, || this.try_write()).map_or(libc::ETIMEDOUT, |()| 0)
            }
        }
    }

    unsafe extern "C-unwind" fn unlock(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `rdlock`. The caller is inside. The lock is plain to readers, and not to a
        // writer.
        unsafe {
            let this = Replaced::<L>::of(lock);
            if !this.is_plain() {
                return Self::unlock_as_writer(lock);
            }
            if !this.leave_as_sole_reader() {
                return Self::unlock_with_care(lock);
            }
        }
        0
    }

    /// A function of its own, so that readers save no registers for it.
    ///
    /// # Safety
    /// As for `pthread_rwlock_unlock`. The lock is not plain.
    #[inline(never)]
    unsafe extern "C-unwind" fn unlock_as_writer(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `unlock`.
        unsafe {
            let this = Replaced::<L>::of(lock);
            if !this.is_written_here() {
                return Self::unlock_with_care(lock);
            }
            this.leave_as_writer();
        }
        0
    }

    /// # Safety
    /// As for `pthread_rwlock_unlock`.
    #[cold]
    #[inline(never)]
    unsafe extern "C-unwind" fn unlock_with_care(lock: *mut pthread_rwlock_t) -> c_int {
        // SAFETY: as in `unlock`.
        unsafe {
            if is_process_shared(lock) {
                return real::pthread_rwlock_unlock(lock);
            }
            let this = Replaced::<L>::of(lock);
            if this.is_plain() {
                this.leave_as_reader();
            } else {
                this.leave_inherited();
            }
        }
        0
    }
}
