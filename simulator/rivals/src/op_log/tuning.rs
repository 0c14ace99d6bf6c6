//! How large the tables of an [`OpLog`](super::OpLog) are.

/// The constants of an [`OpLog`](super::OpLog).
///
/// # Safety
/// Those that are not listed are left as they are: without them the structure is told to insert what
/// it has and to remove what it has not.
pub unsafe trait Tuning: Send + Sync + 'static {
    /// Logs that a core has.
    const WAYS: usize = 4096;

    /// Entries in one log, or in logs that were put aside, at which the root is brought up to date.
    const MOST_LOGGED: usize = 1_000_000;

    /// Whether entries are applied in the order of their stamps. For the tests, which show that a log
    /// for which that is not so is found out.
    #[doc(hidden)]
    const MERGES: bool = true;

    /// Whether a merge leaves what was logged after it began. For the tests, too.
    #[doc(hidden)]
    const CUTS: bool = true;
}

/// The constants of the paper.
#[derive(Debug, Clone, Copy)]
pub struct Published;
