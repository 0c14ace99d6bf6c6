//! Tables that may be too large for the memory that there is.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// There is not so much memory.
#[derive(Debug)]
pub(crate) struct NoMemory;

/// Returns so many entries. Collecting them would end the program if the system refuses the memory.
pub(crate) fn table<T>(
    len: usize,
    mut entry: impl FnMut() -> Result<T, NoMemory>,
) -> Result<Box<[T]>, NoMemory> {
    let mut entries = Vec::new();
    entries.try_reserve_exact(len).map_err(|_| NoMemory)?;
    for _ in 0..len {
        entries.push(entry()?);
    }
    Ok(entries.into_boxed_slice())
}
