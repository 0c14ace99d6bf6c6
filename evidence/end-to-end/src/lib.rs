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
//!   ([`Shape::of`](kilocore_curve::Shape::of)) judges the measured curve and the forecast one.
//!   Where the answer to a user says that too little was seen to tell, there is none.
//! * *Locks that do well*: those within a tenth of the best on all nodes.
//! * *Regret*: what is lost there by taking the lock that the forecast calls best.
//! * *Error*: of all throughputs divided by that of the program as it is on one node.

mod comparison;
mod forecasts;
mod index;
mod published;
mod render;

use std::fmt::Display;
use std::path::Path;

use thiserror::Error;

pub use comparison::{Comparison, LockComparison};
pub use forecasts::{MACHINES, compare, simulations};
pub use index::{Entry, ReadWrite, read_index};
pub use published::{ByNodes, Published, read_published};
pub use render::{constant_verdicts, gain_errors_file, markdown};

/// What is wrong with a file, or with a forecast from it.
#[derive(Debug, Error)]
#[error("{file}: {what}")]
pub struct Error {
    file: String,
    what: String,
}

impl Error {
    pub(crate) fn new(file: &Path, what: impl Display) -> Self {
        Self { file: file.display().to_string(), what: what.to_string() }
    }
}
