//! What QEMU looks for in a plugin.

use std::ffi::{CStr, c_char, c_int};

use crate::api::PluginId;

/// Defines what QEMU looks for in a plugin: once in each, at the root of its crate. `$install` is called before the
/// program begins, with the plugin's number and the arguments that were given, each as `key=value`; what it cannot
/// do, it returns in words.
///
/// QEMU refuses plugins that are older than it supports, or newer than it is. What is declared in this crate is
/// the same in all versions, so the plugin names one that QEMU has, before QEMU asks: the loader calls a
/// function when it has loaded the plugin.
///
/// This is a macro, as QEMU looks for the symbols in the plugin itself. The linker leaves out what a library
/// defines and nobody names.
#[macro_export]
macro_rules! plugin {
    ($install:path) => {
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

        /// QEMU calls this once, before the program begins.
        ///
        /// # Safety
        /// Only QEMU calls it, with `argc` strings in `argv` and a description of itself.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn qemu_plugin_install(
            id: $crate::api::PluginId,
            _info: *const ::core::ffi::c_void,
            argc: ::core::ffi::c_int,
            argv: *const *const ::core::ffi::c_char,
        ) -> ::core::ffi::c_int {
            // SAFETY: QEMU gives as many strings as it says.
            unsafe { $crate::install(id, argc, argv, $install) }
        }
    };
}

/// Calls `install` with the arguments of a plugin, and says what it could not do. Returns what QEMU expects.
///
/// # Safety
/// `argv` has `argc` strings.
pub unsafe fn install(
    id: PluginId,
    argc: c_int,
    argv: *const *const c_char,
    install: fn(PluginId, &[&str]) -> Result<(), String>,
) -> c_int {
    // SAFETY: as the caller promises.
    let arguments = (0..argc as usize).map(|at| unsafe { CStr::from_ptr(*argv.add(at)) });
    let texts = arguments.map(CStr::to_str).collect::<Result<Vec<_>, _>>();
    let texts = texts.map_err(|_| "an argument is no text".to_owned());
    match texts.and_then(|texts| install(id, &texts)) {
        Ok(()) => 0,
        Err(what) => {
            eprintln!("kilocore: {what}");
            1
        }
    }
}
