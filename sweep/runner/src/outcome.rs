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
    /// How many points were computed.
    pub computed: usize,
    /// The signal that told it to end, if one did.
    pub told_by: Option<i32>,
}

/// A run whose answer cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRun {
    /// Which it is.
    pub run: RunIndex,
    /// Why, as its command has said it, or the system.
    pub why: String,
}
