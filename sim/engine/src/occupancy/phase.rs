//! What a task asks of a processor for a while.

use crate::occupancy::curve::MissCurve;
use crate::occupancy::units::Bytes;

/// What a task asks of a processor for a while: a loop of it, or the mean over all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Cycles per instruction while every reference to the last-level cache hits. What hits cost is
    /// part of it.
    pub cpi: f64,
    /// References to the last-level cache per instruction: what misses the core's own caches.
    pub references: f64,
    /// Which share of them misses.
    pub curve: MissCurve,
    /// How many misses are under way at a time, prefetched ones included: at least 1. The task waits
    /// for a miss only this part of its latency.
    pub overlap: f64,
    /// Lines written back to memory, per miss: 0 to 1.
    pub written_back: f64,
    /// What the task needs in the core's own caches, and has to fetch again after others ran there.
    pub private: Bytes,
}
