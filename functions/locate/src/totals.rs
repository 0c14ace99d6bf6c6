//! What one side of a comparison comes to as a whole.

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::Tally;

use crate::Work;

/// The totals of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct SideTotals {
    /// The names of its runs.
    pub names: Vec<String>,
    /// How many cores each had.
    pub cores: Option<u32>,
    /// The work of all of them together.
    pub work: Work,
    /// All samples, in the measure of the comparison.
    pub busy: Tally,
    /// How long all of them took together by the wall clock.
    pub elapsed: Option<Nanoseconds>,
}

impl SideTotals {
    /// Units of work a second.
    #[must_use]
    pub fn throughput(&self) -> Option<f64> {
        let elapsed = self.elapsed.filter(|&elapsed| elapsed > Nanoseconds(0))?;
        Some(self.work.as_f64() / elapsed.calculated().seconds())
    }
}
