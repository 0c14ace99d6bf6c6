//! What is in the address space before the program executes anything: the program, its loader, and its
//! stack, which QEMU puts there.

use kilocore_references::{Backing, Callers, Mapping, Region};

/// All that is there, as the program sees it.
pub(crate) fn all() -> Vec<Mapping> {
    let mapping = |line: kilocore_linux::maps::Mapping| Mapping {
        region: Region::of_bytes(line.start, line.end - line.start),
        backing: match line.path.starts_with('/') {
            true => Backing::File(line.path.into()),
            false => Backing::Anonymous,
        },
        shared: line.shared,
        callers: Callers::default(),
    };
    kilocore_qemu_plugin::mappings().into_iter().map(mapping).collect()
}
