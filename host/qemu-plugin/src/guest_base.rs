//! Where the program's addresses are in QEMU's process.

use std::ffi::CStr;
use std::fs;
use std::sync::OnceLock;

use kilocore_linux::maps::{self, Mapping};

use crate::api;

/// What is added to the program's addresses, once the program is loaded.
static BASE: OnceLock<u64> = OnceLock::new();

/// What is added to the program's addresses to make QEMU's, as far as somebody has
/// [found it out](learn_base).
#[must_use]
pub fn guest_base() -> u64 {
    BASE.get().copied().unwrap_or(0)
}

/// Finds out what is added, and returns it. It is found out once, so the program must be loaded already, as it
/// is when QEMU translates the first block.
pub fn learn_base() -> u64 {
    *BASE.get_or_init(|| base(&maps::own().unwrap_or_default()))
}

/// Finds out what is added. Between machines of one kind it is nearly always nothing.
fn base(lines: &[Mapping]) -> u64 {
    // SAFETY: QEMU's functions without arguments. The name is a C string that stays.
    let (code, name) = unsafe {
        let name = api::qemu_plugin_path_to_binary();
        let name = (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy());
        (api::qemu_plugin_start_code(), name)
    };
    let inside =
        |line: &&Mapping| (line.start..line.end).contains(&code) && line.path.starts_with('/');
    if lines.iter().any(|line| inside(&line)) {
        return 0;
    }
    let name = name.and_then(|name| fs::canonicalize(&*name).ok());
    let first =
        lines.iter().find(|line| name.as_ref().is_some_and(|it| it.as_os_str() == &*line.path));
    first.map_or(0, |line| line.start.saturating_sub(code & !0xfff))
}
