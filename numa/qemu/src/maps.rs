//! What is in the address space before the program executes anything: the program, its loader, and its
//! stack, which QEMU puts there, and what QEMU has for itself.
//!
//! The list of QEMU's own process tells all of it. What was there when the plugin was installed is
//! QEMU's, so it is left out. A few of QEMU's newer mappings stay in; the program never uses them.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fs;
use std::sync::OnceLock;

use kilocore_linux::maps::{self, Mapping as Line};
use kilocore_references::{Backing, Callers, Mapping, Region};

use crate::api;

/// Where QEMU's own mappings begin, before the program was loaded.
static OWN: OnceLock<HashSet<u64>> = OnceLock::new();

/// What is added to the program's addresses, once the program is loaded.
static BASE: OnceLock<u64> = OnceLock::new();

/// What is added to the program's addresses to make QEMU's.
pub(crate) fn guest_base() -> u64 {
    BASE.get().copied().unwrap_or(0)
}

/// Finds out what is added, once the program is loaded, and returns it.
pub(crate) fn learn_base() -> u64 {
    *BASE.get_or_init(|| base(&lines()))
}

/// Remembers what is there now.
pub(crate) fn remember_own() {
    OWN.get_or_init(|| lines().into_iter().map(|line| line.start).collect());
}

/// What came since, as the program sees it.
pub(crate) fn new_ones() -> Vec<Mapping> {
    let lines = lines();
    let base = *BASE.get_or_init(|| base(&lines));
    let own = OWN.get();
    lines
        .into_iter()
        .filter(|line| !own.is_some_and(|own| own.contains(&line.start)) && line.start >= base)
        .map(|line| Mapping {
            region: Region::of_bytes(line.start - base, line.end - line.start),
            backing: if line.path.starts_with('/') {
                Backing::File(line.path.into())
            } else {
                Backing::Anonymous
            },
            shared: line.shared,
            callers: Callers::default(),
        })
        .collect()
}

fn lines() -> Vec<Line> {
    maps::own().unwrap_or_default()
}

/// Finds out what is added. Between machines of one kind it is
/// nearly always nothing.
fn base(lines: &[Line]) -> u64 {
    // SAFETY: QEMU's functions without arguments. The name is a C string that stays.
    let (code, name) = unsafe {
        let name = api::qemu_plugin_path_to_binary();
        let name = (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy());
        (api::qemu_plugin_start_code(), name)
    };
    let inside =
        |line: &&Line| (line.start..line.end).contains(&code) && line.path.starts_with('/');
    if lines.iter().any(|line| inside(&line)) {
        return 0;
    }
    let name = name.and_then(|name| fs::canonicalize(&*name).ok());
    let first =
        lines.iter().find(|line| name.as_ref().is_some_and(|it| it.as_os_str() == &*line.path));
    first.map_or(0, |line| line.start.saturating_sub(code & !0xfff))
}
