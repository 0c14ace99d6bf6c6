//! Names for code at an offset in a file, by what the file itself tells.
//!
//! A place gets the name of the symbol table's function, not the names of functions that the
//! compiler inlined there. Inlined names need debugging information. If only one of two recordings
//! of a program has it, the same code would get two names. A user who knows that both have it can
//! ask for inlined functions.

use kilocore_symbols::{Binary, DebugFiles};

/// Adds the symbols of a separate debug file, if this file has no symbol table.
pub(crate) fn with_debug_file(mut binary: Binary, debug_files: &DebugFiles) -> Binary {
    let id = binary.build_id().filter(|_| !binary.has_symbol_table());
    let files = id.map(|id| debug_files.debug(id)).unwrap_or_default();
    for file in files {
        if binary.take_debug_file(&file).unwrap_or(false) {
            break;
        }
    }
    binary
}

/// The names of the functions at an offset, the innermost first. There is none if nothing is known.
pub(crate) fn names(binary: &Binary, offset: u64, inlined: bool) -> Vec<String> {
    let address = binary.address(offset).unwrap_or(offset);
    if inlined {
        let frames = binary.frames(address).into_iter().map(|frame| frame.function);
        let names: Vec<String> = frames.filter(|name| !name.is_empty()).collect();
        if !names.is_empty() {
            return names;
        }
    }
    binary.function(address).into_iter().collect()
}

/// Names a function of a stripped file by the address at which it begins.
pub(crate) fn in_place(binary: &Binary, offset: u64, path: &str) -> Option<String> {
    let start = binary.function_start(binary.address(offset)?)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(format!("{name}+{start:#x}"))
}

/// Why a file has names for only little of its code, if that is so.
pub(crate) fn stripped(binary: &Binary) -> Option<String> {
    let why = "it is stripped; install its debugging symbols, or do not strip it";
    (!binary.has_symbol_table()).then(|| why.to_owned())
}

/// Whether a mapping's name stands for memory without a file.
pub(crate) fn is_memory(path: &str) -> bool {
    path.is_empty()
        || ["//anon", "[", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage", "anon_inode:"]
            .iter()
            .any(|start| path.starts_with(start))
}
