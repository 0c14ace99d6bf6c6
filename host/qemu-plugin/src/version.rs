//! Which version of QEMU's interface a plugin says it was made for.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

/// The version of QEMU 7.2.
pub const OLD: c_int = 1;
/// The first version without `qemu_plugin_n_vcpus`, and the oldest one that QEMU supports since.
const NEWER: c_int = 2;

/// Names a version that this QEMU has.
pub fn choose(version: &AtomicI32) {
    // SAFETY: a C string, looked up among all that is loaded.
    let old = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"qemu_plugin_n_vcpus".as_ptr()) };
    version.store(if old.is_null() { NEWER } else { OLD }, Ordering::Relaxed);
}
