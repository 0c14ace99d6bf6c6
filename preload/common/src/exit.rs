//! Ending the process as the C library does.

use core::ffi::c_int;

use crate::RealFunction;

type Exit = unsafe extern "C" fn(c_int) -> !;

/// Ends the process by the C library's own function, `_exit` or `_Exit`, or by the system call if that cannot
/// be found.
///
/// # Safety
/// `real` is one of these two functions. Otherwise the contract is that of `_exit`.
pub unsafe fn exit_by(real: &RealFunction, status: c_int) -> ! {
    let address = real.address();
    if !address.is_null() {
        // SAFETY: this is the C library's function of that name, which has this type.
        let exit = unsafe { core::mem::transmute::<*mut _, Exit>(address) };
        // SAFETY: this passes on the caller's argument.
        unsafe { exit(status) };
    }
    loop {
        // SAFETY: this ends the process, as the C library does.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}
