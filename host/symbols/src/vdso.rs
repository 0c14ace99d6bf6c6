//! The code that the kernel lends to every process.
//!
//! It is in no file, but the kernel that runs here has it in this process's memory too.

use std::fs::File;
use std::os::unix::fs::FileExt;

use kilocore_linux::maps;

/// The image of this process's `[vdso]`, an ELF file, if it has one.
#[must_use]
pub fn own_vdso() -> Option<Vec<u8>> {
    /// Some pages; what is longer is something else.
    const MAX: u64 = 1 << 20;
    let mapping = maps::own().ok()?.into_iter().find(|mapping| mapping.path == "[vdso]")?;
    let size = Some(mapping.end - mapping.start).filter(|size| *size <= MAX)?;
    let mut image = vec![0; usize::try_from(size).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut image, mapping.start).ok()?;
    Some(image)
}
