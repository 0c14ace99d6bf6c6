//! Which version of QEMU's interface the plugin says it was made for.
//!
//! QEMU refuses plugins that are older than it supports, or newer than it is. This plugin uses nothing
//! that changed between the versions, so it names one that QEMU has, before QEMU asks.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

/// The version, where QEMU looks for it.
#[allow(non_upper_case_globals, reason = "QEMU looks for it under this name")]
#[unsafe(no_mangle)]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(OLD);

/// The version of QEMU 7.2.
const OLD: c_int = 1;
/// The first version without `qemu_plugin_n_vcpus`, and the oldest one that QEMU supports since.
const NEWER: c_int = 2;

/// The loader calls this when it has loaded the plugin.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = choose;

extern "C" fn choose() {
    // SAFETY: a C string, looked up among all that is loaded.
    let old = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"qemu_plugin_n_vcpus".as_ptr()) };
    let version = if old.is_null() { NEWER } else { OLD };
    qemu_plugin_version.store(version, Ordering::Relaxed);
}
