//! The files in the program's memory.

use kilocore_emulation_orders::MappedFile;
use kilocore_linux::maps::Mapping;
use kilocore_qemu_plugin::mappings;

/// All of them, as they are now.
pub(crate) fn files() -> Vec<MappedFile> {
    mappings().into_iter().filter(is_file).map(file).collect()
}

fn is_file(mapping: &Mapping) -> bool {
    mapping.file().is_some()
}

fn file(mapping: Mapping) -> MappedFile {
    let Mapping { start, end, offset, path, .. } = mapping;
    MappedFile { start, end, offset, path }
}
