//! Tables that may be too large for the memory that there is.

/// Returns so many entries, or nothing if the system refuses the memory. Collecting them would end the program
/// then.
pub(crate) fn table<T>(len: usize, entry: impl FnMut(usize) -> T) -> Option<Box<[T]>> {
    let mut entries = Vec::new();
    entries.try_reserve_exact(len).ok()?;
    entries.extend((0..len).map(entry));
    Some(entries.into_boxed_slice())
}
