//! What is mapped in the program's memory: the program, its loader and its stack, which QEMU puts there, and what
//! the program has mapped since.
//!
//! The list of QEMU's own process tells all of it. What was there when the plugin was installed is QEMU's, so it is
//! left out. A few of QEMU's newer mappings stay in; the program never uses them.

use std::collections::HashSet;
use std::sync::OnceLock;

use kilocore_linux::maps::{self, Mapping};

use crate::guest_base;

/// Where QEMU's own mappings begin, before the program was loaded.
static OWN: OnceLock<HashSet<u64>> = OnceLock::new();

/// Remembers what is there now, before the program is loaded.
pub fn remember_own_mappings() {
    OWN.get_or_init(|| lines().into_iter().map(|line| line.start).collect());
}

/// What came since, at the addresses that the program has for it. Files are those of the host.
#[must_use]
pub fn mappings() -> Vec<Mapping> {
    let (base, own) = (guest_base(), OWN.get());
    let is_own = |line: &Mapping| own.is_some_and(|own| own.contains(&line.start));
    let new = lines().into_iter().filter(|line| line.start >= base && !is_own(line));
    new.map(|line| Mapping { start: line.start - base, end: line.end - base, ..line }).collect()
}

fn lines() -> Vec<Mapping> {
    maps::own().unwrap_or_default()
}
