//! What no plan has more of.

/// The longest plan, in bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// The most runs of a plan.
pub const MOST_RUNS: usize = 100_000;
