//! Tables of fixed length.

use alloc::boxed::Box;
use alloc::collections::TryReserveError;
use alloc::vec::Vec;

/// Returns a table of what `make` returns for each number below `len`, unless there is no memory for it.
pub(crate) fn table<T>(
    len: u32,
    make: impl FnMut(u32) -> Result<T, TryReserveError>,
) -> Result<Box<[T]>, TryReserveError> {
    let mut entries = Vec::new();
    entries.try_reserve_exact(len as usize)?;
    for entry in (0..len).map(make) {
        entries.push(entry?);
    }
    Ok(entries.into_boxed_slice())
}
