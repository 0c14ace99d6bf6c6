//! The functions that limit or lock all memory of the process.
//!
//! The pool has more addresses than the program uses. A new limit would count them, and locking all memory
//! would fill them. So before either the pool unmaps what it has in store, and serves nobody any more.

use core::ffi::c_int;

use crate::{failure, make, next};

/// Locks all memory.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn mlockall(flags: c_int) -> c_int {
    make::retire();
    let Some(next) = next::mlockall() else { return failure::minus_one(libc::ENOSYS) };
    // SAFETY: this passes on the caller's arguments.
    unsafe { next(flags) }
}

/// Retires the pool if the process is about to limit its address space.
///
/// # Safety
/// The limit is null or can be read.
unsafe fn prepare(which: c_int, limit: *const libc::rlimit64) {
    let addresses = which == libc::RLIMIT_AS as c_int || which == libc::RLIMIT_DATA as c_int;
    // SAFETY: the caller's promise.
    let limit = unsafe { limit.as_ref() };
    if addresses && limit.is_some_and(|limit| limit.rlim_cur != libc::RLIM64_INFINITY) {
        make::retire();
    }
}

/// Declares functions that set a limit of this process.
macro_rules! limits {
    ($($name:ident)*) => {
        $(
            /// Sets a limit.
            ///
            /// # Safety
            /// The contract is that of the POSIX function.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(which: c_int, limit: *const libc::rlimit64) -> c_int {
                // SAFETY: the caller's promise.
                unsafe { prepare(which, limit) };
                let Some(next) = next::$name() else { return failure::minus_one(libc::ENOSYS) };
                // SAFETY: this passes on the caller's arguments.
                unsafe { next(which, limit) }
            }
        )*
    };
}

limits! { setrlimit setrlimit64 }

/// Declares functions that set a limit of any process.
macro_rules! limits_of {
    ($($name:ident)*) => {
        $(
            /// Sets and gets a limit.
            ///
            /// # Safety
            /// The contract is that of the function of Linux.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(
                process: libc::pid_t,
                which: c_int,
                limit: *const libc::rlimit64,
                before: *mut libc::rlimit64,
            ) -> c_int {
                // SAFETY: the function has no arguments.
                if process == 0 || process == unsafe { libc::getpid() } {
                    // SAFETY: the caller's promise.
                    unsafe { prepare(which, limit) };
                }
                let Some(next) = next::$name() else { return failure::minus_one(libc::ENOSYS) };
                // SAFETY: this passes on the caller's arguments.
                unsafe { next(process, which, limit, before) }
            }
        )*
    };
}

limits_of! { prlimit prlimit64 }
