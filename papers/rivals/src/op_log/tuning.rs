//! The constants of an [`OpLog`](super::OpLog): the sizes of its tables.

/// The constants of an [`OpLog`](super::OpLog).
///
/// # Safety
/// The constants that the documentation does not show must keep their defaults. Otherwise the
/// structure may be told to insert an object that it has, or to remove one that it does not have.
pub unsafe trait Tuning: Send + Sync + 'static {
    /// Number of logs that a core has.
    const WAYS: usize = 4096;

    /// The root is brought up to date when one log, or the logs that were put aside, have this many
    /// entries.
    const MOST_LOGGED: usize = 1_000_000;

    /// Whether entries are applied in the order of their stamps. It is false only in tests, which
    /// show that the checks detect a log that does not do so.
    #[doc(hidden)]
    const MERGES: bool = true;

    /// Whether a merge leaves entries that were logged after it began. It is false only in tests as
    /// well.
    #[doc(hidden)]
    const CUTS: bool = true;
}

/// The constants of the paper.
#[derive(Debug, Clone, Copy)]
pub struct Published;
