//! `setrlimit` and `prlimit`, by which a process limits its own address space: the recording's share
//! of it is made small before.

use core::ffi::c_int;

use kilocore_preload_common::{errno, real_functions};
use libc::{__rlimit_resource_t, pid_t, rlimit};

use crate::confined;
use crate::state::State;

real_functions! {
    /// Sets a limit.
    fn setrlimit(resource: __rlimit_resource_t, limit: *const rlimit) -> libc::c_int;
    /// Sets a limit, gives what it was, or both.
    fn prlimit(
        process: pid_t,
        resource: __rlimit_resource_t,
        limit: *const rlimit,
        before: *mut rlimit,
    ) -> libc::c_int;
}

/// Makes room if the address space is what is to be limited.
///
/// # Safety
/// `limit` is null or what the program passed to be read.
unsafe fn make_room(resource: __rlimit_resource_t, limit: *const rlimit) {
    if resource != libc::RLIMIT_AS || confined::is_confined() {
        return;
    }
    // SAFETY: null or a mapping that is never unmapped; and the caller's promise.
    if let (Some(state), Some(limit)) = unsafe { (State::current().as_ref(), limit.as_ref()) } {
        errno::preserved(|| state.shrink(limit.rlim_cur));
    }
}

macro_rules! export {
    ($($name:literal, $function:ident => $real:ident;)*) => {$(
        /// Sets a limit.
        ///
        /// # Safety
        /// That of the POSIX function.
        #[unsafe(export_name = $name)]
        unsafe extern "C-unwind" fn $function(resource: __rlimit_resource_t, limit: *const rlimit) -> c_int {
            // SAFETY: the caller's arguments, unchanged.
            unsafe {
                make_room(resource, limit);
                $real(resource, limit)
            }
        }
    )*};
}

// On 64-bit machines the two are one.
export! {
    "setrlimit", displaced_setrlimit => setrlimit;
    "setrlimit64", displaced_setrlimit64 => setrlimit;
}

macro_rules! export_prlimit {
    ($($name:literal, $function:ident;)*) => {$(
        /// Sets a limit, gives what it was, or both.
        ///
        /// # Safety
        /// That of the Linux function.
        #[unsafe(export_name = $name)]
        unsafe extern "C-unwind" fn $function(
            process: pid_t,
            resource: __rlimit_resource_t,
            limit: *const rlimit,
            before: *mut rlimit,
        ) -> c_int {
            // SAFETY: the caller's arguments, unchanged.
            unsafe {
                make_room(resource, limit);
                prlimit(process, resource, limit, before)
            }
        }
    )*};
}

export_prlimit! {
    "prlimit", displaced_prlimit;
    "prlimit64", displaced_prlimit64;
}
