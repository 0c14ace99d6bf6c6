//! The functions `_exit` and `_Exit`, by which forked children end. This is the last opportunity to
//! note the time.
//!
//! Only the processor time of the process depends on this. Without it, the recording contains the
//! processor time at the last moment at which a thread was examined.

use core::ffi::c_int;

use kilocore_preload_common::RealFunction;

use crate::recorder::note_end;

type Exit = unsafe extern "C" fn(c_int) -> !;

/// Ends the process by the C library's own function.
///
/// # Safety
/// The contract is that of `_exit`.
unsafe fn exit(real: &RealFunction, status: c_int) -> ! {
    note_end();
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

/// Ends the process at once.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(status: c_int) -> ! {
    static REAL: RealFunction = RealFunction::new(c"_exit");
    // SAFETY: this passes on the caller's argument.
    unsafe { exit(&REAL, status) }
}

/// Ends the process at once.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _Exit(status: c_int) -> ! {
    static REAL: RealFunction = RealFunction::new(c"_Exit");
    // SAFETY: this passes on the caller's argument.
    unsafe { exit(&REAL, status) }
}
