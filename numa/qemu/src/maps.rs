//! What is in the address space before the program executes anything: the program, its loader, and its
//! stack, which QEMU puts there, and what QEMU has for itself.
//!
//! The list of QEMU's own process tells all of it. What was there when the plugin was installed is
//! QEMU's, so it is left out. A few of QEMU's newer mappings stay in; the program never uses them.

use std::collections::HashSet;
use std::sync::OnceLock;

use kilocore_linux::maps::{self, Mapping as Line};
use kilocore_qemu_plugin::learn_base;
use kilocore_references::{Backing, Callers, Mapping, Region};

/// Where QEMU's own mappings begin, before the program was loaded.
static OWN: OnceLock<HashSet<u64>> = OnceLock::new();

/// Remembers what is there now.
pub(crate) fn remember_own() {
    OWN.get_or_init(|| lines().into_iter().map(|line| line.start).collect());
}

/// What came since, as the program sees it.
pub(crate) fn new_ones() -> Vec<Mapping> {
    let lines = lines();
    let base = learn_base();
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
