//! Who is told how it goes on.

use std::time::Duration;

use crate::BatchStanding;

/// How far a sweep is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Runs that have come to their end, with an answer or without.
    pub runs_ended: usize,
    /// All runs.
    pub runs: usize,
    /// Points that were computed, or cannot be.
    pub points_ended: usize,
    /// Points that runs were found to miss so far. A run that was not tried yet may miss more.
    pub points: usize,
    /// How long it will take as far as that is known: `None` before any point of these computations was computed.
    pub time_left: Option<Duration>,
    /// What the batch system has, if one computes.
    pub batch: Option<BatchStanding>,
}

/// Who is told how it goes on.
pub trait Progress: Sync {
    /// Something has ended.
    fn is_at(&self, standing: Standing);
}
