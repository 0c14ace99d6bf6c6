//! Tables that may be too large for the memory that there is.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::options::OptionsError;

/// Returns so many entries. Collecting them would end the program if the system refuses the memory.
pub(crate) fn table<T>(
    len: usize,
    mut entry: impl FnMut() -> Result<T, OptionsError>,
) -> Result<Box<[T]>, OptionsError> {
    let mut entries = Vec::new();
    entries.try_reserve_exact(len).map_err(|_| OptionsError::NoMemory)?;
    for _ in 0..len {
        entries.push(entry()?);
    }
    Ok(entries.into_boxed_slice())
}
