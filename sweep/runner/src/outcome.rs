//! What has come of a sweep.

use crate::RunIndex;

/// What has come of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The runs whose answers are there, in the plan's order.
    pub done: Vec<RunIndex>,
    /// Those whose answers cannot be had, in the plan's order.
    pub failed: Vec<FailedRun>,
    /// Those that were not brought to an end, as the sweep was told to end.
    pub left: Vec<RunIndex>,
    /// The commands after all runs that were run, in the plan's order: all, or those up to the first that failed. None, if not all
    /// runs are answered.
    pub after: Vec<AfterEnd>,
    /// How many points were computed.
    pub computed: usize,
    /// The signal that told it to end, if one did.
    pub told_by: Option<i32>,
}

/// How a command after all runs ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterEnd {
    /// As it should.
    Well,
    /// It has failed, and how.
    Failed(String),
}

impl Outcome {
    /// Whether all runs are answered.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.failed.is_empty() && self.left.is_empty() && self.told_by.is_none()
    }
}

/// A run whose answer cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRun {
    /// Which it is.
    pub run: RunIndex,
    /// Why, as its command has said it, or the system.
    pub why: String,
}
