//! What was measured.

use kilocore_platform::Cycles;

use crate::Latency;

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

impl Measured {
    /// Returns how long the initializations took.
    #[must_use]
    pub fn latency(&self) -> Latency {
        let all: Vec<u64> = self.initializations.iter().map(|cycles| cycles.0).collect();
        Latency::of_sorted(&all)
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
