//! Forecasts from profiles that were measured on one machine, beside what others measured on
//! another.
//!
//! # What is compared
//! [`Entry`] names a profile under `data/profiles` and the programs of `data/litl` that it stands
//! for. Each is forecast for the machines of that data set, at the numbers of nodes measured there
//! and under every lock that has a counterpart there, with nothing of the data set going in.
//! The load differs from the published one, mostly because that one is not recorded, so
//! [`Comparison`] holds against each other what should carry over: how throughput develops beyond
//! one node, and what a user would conclude.
//!
//! * *Verdict*: whether the program as it is scales, flattens or collapses; one rule
//!   ([`Shape::of`](kilocore_figures::Shape::of)) judges the measured curve and the forecast one.
//!   Where the answer to a user says that too little was seen to tell, there is none.
//! * *Locks that do well*: those within a tenth of the best on all nodes.
//! * *Regret*: what is lost there by taking the lock that the forecast calls best.
//! * *Error*: of all throughputs divided by that of the program as it is on one node.

mod chances;
mod comparison;
mod forecasts;
mod index;
mod kept;
mod section;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use kilocore_points::PointSource;
use thiserror::Error;

use crate::data::DataSet;
use crate::summary::Share;

pub use comparison::{Comparison, LockComparison, LockGain};
pub use forecasts::{compare, simulations};
pub use index::{Entry, ReadWrite, read_index};
pub use kept::Kept;
pub use section::{MARK, constant_verdicts, markdown};

/// What is wrong with a file, or with a forecast from it.
#[derive(Debug, Error)]
#[error("{file}: {what}")]
pub struct Error {
    file: String,
    what: String,
}

impl Error {
    fn new(file: &Path, what: impl Display) -> Self {
        Self { file: file.display().to_string(), what: what.to_string() }
    }
}

/// What forecasts from profiles come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromProfiles {
    /// The section of the page, from its first paragraph on.
    pub section: String,
    /// Of the programs on machines that get a verdict, those whose is that of the measurement.
    pub right_verdicts: Share,
    /// The best of the answers that are the same for all, and in how many cases it is right.
    pub constant_verdict: (&'static str, Share),
    /// What `kilocore-forecast` keeps of it.
    pub kept: Kept,
}

/// The folder of the profiles under `data`, if there is one.
fn folder(data: &Path) -> Option<PathBuf> {
    Some(data.join("profiles")).filter(|folder| folder.is_dir())
}

/// How many simulations [`forecast`] runs.
///
/// # Errors
/// As [`forecast`].
pub fn steps(data: &Path, sets: &[DataSet]) -> Result<u64, String> {
    let Some(folder) = folder(data) else { return Ok(0) };
    simulations(&folder, sets).map(|steps| steps as u64).map_err(|e| e.to_string())
}

/// Forecasts from all profiles under `data`; none if there are none. `progress` is called after
/// each simulation, from any thread.
///
/// # Errors
/// What is wrong with a profile, with its file.
pub fn forecast(
    data: &Path,
    sets: &[DataSet],
    source: &PointSource,
    seed: u64,
    progress: &(dyn Fn() + Sync),
) -> Result<Option<FromProfiles>, String> {
    let Some(folder) = folder(data) else { return Ok(None) };
    let comparisons = compare(&folder, sets, source, seed, progress).map_err(|e| e.to_string())?;
    let of = comparisons.iter().filter(|comparison| comparison.commits).count();
    let constant = constant_verdicts(&comparisons).max_by_key(|(_, right)| *right);
    let constant_verdict = constant.map_or(("none", Share { having: 0, of }), |(shape, having)| {
        (shape.name(), Share { having, of })
    });
    Ok(Some(FromProfiles {
        section: markdown(&comparisons).trim_end().to_owned(),
        right_verdicts: Share::count(
            comparisons.iter().filter(|c| c.commits).map(Comparison::verdict_is_right),
        ),
        constant_verdict,
        kept: Kept::of(&comparisons, sets).ok_or("no profile stands for a measured program")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_profiles_there_is_no_section() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        assert_eq!(steps(folder.path(), &[]), Ok(0));
        assert_eq!(forecast(folder.path(), &[], PointSource::unkept(), 1, &|| ()), Ok(None));
    }
}
