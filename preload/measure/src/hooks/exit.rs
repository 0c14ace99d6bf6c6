//! The functions `_exit` and `_Exit`, by which forked children end. This is the last opportunity to
//! note the time.
//!
//! Only the processor time of the process depends on this. Without it, the recording contains the
//! processor time at the last moment at which a thread was examined.

use core::ffi::c_int;

use kilocore_preload_common::{exit_by, real_function};

use crate::recorder::note_end;

/// Ends the process at once.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(status: c_int) -> ! {
    note_end();
    // SAFETY: this is the function of that name, and the argument is the caller's.
    unsafe { exit_by(real_function!(c"_exit"), status) }
}

/// Ends the process at once.
///
/// # Safety
/// The contract is that of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn _Exit(status: c_int) -> ! {
    note_end();
    // SAFETY: this is the function of that name, and the argument is the caller's.
    unsafe { exit_by(real_function!(c"_Exit"), status) }
}
