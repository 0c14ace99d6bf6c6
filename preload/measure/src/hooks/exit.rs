//! `_exit` and `_Exit`, which forked children end by: the last chance to note the time.
//!
//! Nothing depends on it but the processor time of the process, which otherwise is as of the last
//! time that a thread was looked at.

use core::ffi::c_int;

use kilocore_preload_common::RealFunction;

use crate::recorder::note_end;

type Exit = unsafe extern "C" fn(c_int) -> !;

/// Ends the process by the C library's own function.
///
/// # Safety
/// That of `_exit`.
unsafe fn exit(real: &RealFunction, status: c_int) -> ! {
    note_end();
    let address = real.address();
    if !address.is_null() {
        // SAFETY: the C library's function of that name, which has this type.
        let exit = unsafe { core::mem::transmute::<*mut _, Exit>(address) };
        // SAFETY: the caller's argument.
        unsafe { exit(status) };
    }
    loop {
        // SAFETY: ends the process, as the C library does.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

/// Ends the process at once.
///
/// # Safety
/// That of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(status: c_int) -> ! {
    static REAL: RealFunction = RealFunction::new(c"_exit");
    // SAFETY: the caller's argument.
    unsafe { exit(&REAL, status) }
}

/// Ends the process at once.
///
/// # Safety
/// That of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _Exit(status: c_int) -> ! {
    static REAL: RealFunction = RealFunction::new(c"_Exit");
    // SAFETY: the caller's argument.
    unsafe { exit(&REAL, status) }
}
