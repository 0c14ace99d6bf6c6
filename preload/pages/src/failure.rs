//! How functions of the C library say that they failed.

use core::ffi::{c_int, c_void};

/// Sets `errno`.
pub(crate) fn set(code: c_int) {
    // SAFETY: this is the address of the calling thread's errno.
    unsafe { *libc::__errno_location() = code };
}

/// Fails with `errno` as the functions do that return a number.
pub(crate) fn minus_one(code: c_int) -> c_int {
    set(code);
    -1
}

/// Fails as `mmap` does.
pub(crate) fn map_failed(code: c_int) -> *mut c_void {
    set(code);
    libc::MAP_FAILED
}
