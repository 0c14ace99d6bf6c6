//! What can be wrong with a size or with a result.

use thiserror::Error;

/// The most threads that a program runs with.
pub const MOST_THREADS: usize = 256;

/// Why a program could not be prepared: a number is outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[error("{what}: {value} is not in the range {least} to {most}")]
pub struct OutOfRange {
    /// What the number says.
    pub what: &'static str,
    /// The number that was given.
    pub value: f64,
    /// The least that it may be.
    pub least: f64,
    /// The most that it may be.
    pub most: f64,
}

/// Checks that a number is in a range. A number that is none is in no range.
pub(crate) fn in_range(
    what: &'static str,
    value: f64,
    least: f64,
    most: f64,
) -> Result<(), OutOfRange> {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(OutOfRange { what, value, least, most })
}

/// The same for a count.
pub(crate) fn count_in_range(
    what: &'static str,
    value: usize,
    least: usize,
    most: usize,
) -> Result<(), OutOfRange> {
    in_range(what, value as f64, least as f64, most as f64)
}

/// What is wrong with a result.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum WrongResult {
    /// There is no result yet.
    #[error("{finished} of {threads} threads have finished; check when all have")]
    Unfinished {
        /// Threads that have finished.
        finished: usize,
        /// Threads of the run.
        threads: usize,
    },
    /// An element is not what it must be.
    #[error("{what} {index} is {found}; it must be {wanted}")]
    Differs {
        /// What kind of element.
        what: &'static str,
        /// The number of the element among those of its kind.
        index: usize,
        /// The value that the program computed.
        found: f64,
        /// What it must be.
        wanted: f64,
    },
    /// A figure is outside its bounds, or is no number.
    #[error("{what} is {found}; it must be from {least} to {most}")]
    OutOfBounds {
        /// What the figure says.
        what: &'static str,
        /// The value that the program computed.
        found: f64,
        /// The least that it may be.
        least: f64,
        /// The most that it may be.
        most: f64,
    },
}

/// Checks a figure of a result against its bounds. A figure that is no number is outside.
pub(crate) fn bounded(
    what: &'static str,
    found: f64,
    least: f64,
    most: f64,
) -> Result<(), WrongResult> {
    if found >= least && found <= most {
        return Ok(());
    }
    Err(WrongResult::OutOfBounds { what, found, least, most })
}
