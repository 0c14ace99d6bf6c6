//! The functions `setrlimit` and `prlimit`, by which a process may limit its address space. Before
//! it does, the recording's share of the address space is reduced.

use core::ffi::c_int;

use kilocore_preload_common::{errno, real_functions};
use libc::{__rlimit_resource_t, pid_t, rlimit};

use crate::confined;
use crate::state::State;

real_functions! {
    /// Sets a limit on what the process may use.
    fn setrlimit(resource: __rlimit_resource_t, limit: *const rlimit) -> libc::c_int;
    /// Sets a limit, returns the previous limit, or does both.
    fn prlimit(
        process: pid_t,
        resource: __rlimit_resource_t,
        limit: *const rlimit,
        before: *mut rlimit,
    ) -> libc::c_int;
}

/// Reduces the recording's share if the limit is that of the address space.
///
/// # Safety
/// `limit` is null, or the program has passed it to be read.
unsafe fn make_room(resource: __rlimit_resource_t, limit: *const rlimit) {
    if resource != libc::RLIMIT_AS || confined::is_confined() {
        return;
    }
    // SAFETY: the state is null or in a mapping that is never unmapped. `limit` is valid by the
    // caller's promise.
    if let (Some(state), Some(limit)) = unsafe { (State::current().as_ref(), limit.as_ref()) } {
        errno::preserved(|| state.shrink(limit.rlim_cur));
    }
}

macro_rules! export {
    ($($name:literal, $function:ident => $real:ident;)*) => {$(
        /// Sets a limit.
        ///
        /// # Safety
        /// The contract is that of the POSIX function.
        #[unsafe(export_name = $name)]
        unsafe extern "C-unwind" fn $function(resource: __rlimit_resource_t, limit: *const rlimit) -> c_int {
            // SAFETY: this passes on the caller's arguments unchanged.
            unsafe {
                make_room(resource, limit);
                $real(resource, limit)
            }
        }
    )*};
}

// On 64-bit machines, the two names stand for the same function.
export! {
    "setrlimit", displaced_setrlimit => setrlimit;
    "setrlimit64", displaced_setrlimit64 => setrlimit;
}

macro_rules! export_prlimit {
    ($($name:literal, $function:ident;)*) => {$(
        /// Sets a limit, returns the previous limit, or does both.
        ///
        /// # Safety
        /// The contract is that of the Linux function.
        #[unsafe(export_name = $name)]
        unsafe extern "C-unwind" fn $function(
            process: pid_t,
            resource: __rlimit_resource_t,
            limit: *const rlimit,
            before: *mut rlimit,
        ) -> c_int {
            // SAFETY: this passes on the caller's arguments unchanged.
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
