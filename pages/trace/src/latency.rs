//! How long it takes to initialize a page.

use kilocore_figures::percentile;
use kilocore_show::number;
use serde::{Deserialize, Serialize};

/// How long it takes to initialize a page: cycles of the simulated machine, or of the time-stamp counter.
/// Zeroes if nothing was initialized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The mean over all pages that were initialized.
    pub mean: f64,
    /// A tenth of the pages take at most so long.
    pub percentile_10: u64,
    /// Half of the pages take at most so long.
    pub median: u64,
    /// Nine tenths of the pages take at most so long.
    pub percentile_90: u64,
    /// Ninety-nine of a hundred.
    pub percentile_99: u64,
}

impl Latency {
    /// Returns the latency by times in ascending order, in cycles.
    pub(crate) fn of_sorted(cycles: &[u64]) -> Self {
        let at = |percent| percentile(cycles, percent).unwrap_or(0);
        Latency {
            mean: cycles.iter().sum::<u64>() as f64 / cycles.len().max(1) as f64,
            percentile_10: at(10),
            median: at(50),
            percentile_90: at(90),
            percentile_99: at(99),
        }
    }

    /// Returns the percentiles as a table shows them.
    pub(crate) fn percentiles(&self) -> [String; 4] {
        [self.percentile_10, self.median, self.percentile_90, self.percentile_99].map(number::count)
    }
}
