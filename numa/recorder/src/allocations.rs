//! How a program's allocations are recorded: by the plugin, and by a library under the program.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use kilocore_preload_common::allocation_calls::SMALLEST_BLOCK;
use kilocore_qemu::Linkage;

/// What is recorded of a program's allocations.
#[derive(Debug, Clone)]
pub struct Allocations {
    /// The path of `libkilocore_allocations.so`.
    pub library: PathBuf,
    /// Blocks of fewer bytes are not recorded.
    pub smallest_block: u64,
}

impl Allocations {
    /// Smaller blocks share their pages with others, and references are known by page.
    pub const SMALLEST_BLOCK: u64 = 4096;

    /// With blocks of the usual sizes.
    #[must_use]
    pub fn new(library: PathBuf) -> Self {
        Self { library, smallest_block: Self::SMALLEST_BLOCK }
    }
}

/// What to put into the program's environment, or why nothing.
pub(crate) fn variables(
    allocations: &Allocations,
    library: &Path,
    program: &Path,
    preloaded: Option<&OsStr>,
) -> Result<Vec<OsString>, &'static str> {
    match Linkage::of(program) {
        Linkage::Static => return Err("as the program is linked statically"),
        Linkage::Other => return Err("as the program's C library is not glibc"),
        Linkage::Glibc => {}
    }
    // First, as an allocator that somebody else preloads would not call the next one.
    let mut preloads = OsString::from("LD_PRELOAD=");
    preloads.push(library);
    if let Some(others) = preloaded.filter(|others| !others.is_empty()) {
        preloads.push(":");
        preloads.push(others);
    }
    // QEMU takes commas to separate variables.
    if preloads.as_bytes().contains(&b',') {
        return Err("as there is a comma in the path of a library to preload");
    }
    Ok(vec![preloads, format!("{SMALLEST_BLOCK}={}", allocations.smallest_block).into()])
}

/// What is not known of blocks, and why.
pub(crate) fn not_covered(why: &str) -> String {
    format!("which blocks the heap has, and who allocated them, {why}")
}
