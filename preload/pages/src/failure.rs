//! How functions of the C library say that they failed.

use core::ffi::{c_int, c_void};

pub(crate) use kilocore_preload_common::errno::set;

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
