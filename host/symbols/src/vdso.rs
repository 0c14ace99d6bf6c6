//! The code that the kernel lends to every process.
//!
//! It is in no file, but the kernel that runs here has it in this process's memory too.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// The image of this process's `[vdso]`, an ELF file, if it has one.
#[must_use]
pub fn own_vdso() -> Option<Vec<u8>> {
    /// Some pages; what is longer is something else.
    const MAX: u64 = 1 << 20;
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.ends_with("[vdso]"))?;
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let address = |digits| u64::from_str_radix(digits, 16).ok();
    let (start, end) = (address(start)?, address(end)?);
    let size = end.checked_sub(start).filter(|size| *size <= MAX)?;
    let mut image = vec![0; usize::try_from(size).ok()?];
    File::open("/proc/self/mem").ok()?.read_exact_at(&mut image, start).ok()?;
    Some(image)
}
