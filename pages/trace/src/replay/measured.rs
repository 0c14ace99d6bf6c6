//! What was measured.

use kilocore_figures::percentile;
use kilocore_platform::Cycles;

/// What was measured of one run of a trace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// The time of each initialization, ascending.
    pub initializations: Vec<Cycles>,
    /// All allocations together, and how many there were.
    pub allocations: (Cycles, u64),
    /// All releases together, and how many there were.
    pub releases: (Cycles, u64),
}

/// Times in cycles of the time-stamp counter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// A tenth takes at most so long.
    pub percentile_10: u64,
    /// A half.
    pub median: u64,
    /// Nine tenths.
    pub percentile_90: u64,
    /// Ninety-nine of a hundred.
    pub percentile_99: u64,
}

impl Measured {
    /// Returns the distribution of the initializations; zeroes if there were none.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        let all = &self.initializations;
        if all.is_empty() {
            return Distribution::default();
        }
        let at = |percent| percentile(all, percent).map_or(0, |cycles| cycles.0);
        Distribution {
            mean: all.iter().map(|cycles| cycles.0 as f64).sum::<f64>() / all.len() as f64,
            percentile_10: at(10),
            median: at(50),
            percentile_90: at(90),
            percentile_99: at(99),
        }
    }

    /// Returns the mean time of an allocation, without initialization, in cycles.
    #[must_use]
    pub fn mean_allocation(&self) -> f64 {
        mean(self.allocations)
    }

    /// Returns the mean time of a release, in cycles.
    #[must_use]
    pub fn mean_release(&self) -> f64 {
        mean(self.releases)
    }

    /// Adds what another thread, or another run, has measured.
    pub fn add(&mut self, mut other: Measured) {
        self.initializations.append(&mut other.initializations);
        self.initializations.sort_unstable();
        let add = |own: &mut (Cycles, u64), other: (Cycles, u64)| {
            own.0 += other.0;
            own.1 += other.1;
        };
        add(&mut self.allocations, other.allocations);
        add(&mut self.releases, other.releases);
    }
}

fn mean((cycles, count): (Cycles, u64)) -> f64 {
    cycles.0 as f64 / count.max(1) as f64
}
