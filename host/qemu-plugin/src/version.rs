//! Which version of QEMU's interface a plugin says it was made for.

use std::ffi::c_int;
use std::sync::atomic::{AtomicI32, Ordering};

/// The version of QEMU 7.2.
pub const OLD: c_int = 1;
/// The first version without `qemu_plugin_n_vcpus`, and the oldest one that QEMU supports since.
const NEWER: c_int = 2;

/// Says which version of QEMU's interface this plugin was made for: once in each plugin, at the root of its
/// crate.
///
/// QEMU refuses plugins that are older than it supports, or newer than it is. What is declared in this crate is
/// the same in all versions, so the plugin names one that QEMU has, before QEMU asks: the loader calls a
/// function when it has loaded the plugin.
///
/// This is a macro, as QEMU looks for the symbol in the plugin itself. The linker leaves out what a library
/// defines and nobody names.
#[macro_export]
macro_rules! plugin_version {
    () => {
        /// The version of QEMU's interface that this plugin was made for, where QEMU looks for it.
        #[allow(non_upper_case_globals, reason = "QEMU looks for it under this name")]
        #[unsafe(no_mangle)]
        pub static qemu_plugin_version: ::core::sync::atomic::AtomicI32 =
            ::core::sync::atomic::AtomicI32::new($crate::OLD);

        const _: () = {
            /// The loader calls this when it has loaded the plugin.
            #[used]
            #[unsafe(link_section = ".init_array")]
            static AT_LOAD: extern "C" fn() = at_load;

            extern "C" fn at_load() {
                $crate::choose(&qemu_plugin_version);
            }
        };
    };
}

/// Names a version that this QEMU has.
pub fn choose(version: &AtomicI32) {
    // SAFETY: a C string, looked up among all that is loaded.
    let old = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"qemu_plugin_n_vcpus".as_ptr()) };
    version.store(if old.is_null() { NEWER } else { OLD }, Ordering::Relaxed);
}
