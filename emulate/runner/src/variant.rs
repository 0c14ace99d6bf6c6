//! A program under a choice of locks, on several numbers of cores.

use std::ops::RangeInclusive;

use kilocore_emulation_orders::Report;

use crate::Runs;

/// A program with its own locks or under others.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The locks: [`OWN`](Self::OWN), or names such as `mcs` or `mcs, phase-fair`.
    pub locks: String,
    /// The runs, by number of cores, fewest first. At least one.
    pub points: Vec<(u32, Runs)>,
}

impl Variant {
    /// The name of a program's own locks.
    pub const OWN: &str = "own";

    /// Its name among tables.
    pub(crate) fn name(&self) -> String {
        self.locks.replace(", ", "-")
    }

    /// How it is said in a sentence's place.
    pub(crate) fn said(&self) -> String {
        if self.locks == Self::OWN { String::new() } else { format!(" under {}", self.locks) }
    }

    /// Whether chance decides how long any of them takes.
    pub(crate) fn differs(&self) -> bool {
        self.points.iter().any(|(_, runs)| runs.differ())
    }

    /// The runs on the fewest cores.
    pub(crate) fn fewest(&self) -> Option<&Runs> {
        self.points.first().map(|(_, runs)| runs)
    }

    /// How many times as fast as on the fewest cores a run is.
    pub(crate) fn speedup(&self, report: &Report) -> f64 {
        self.fewest().map_or(1.0, |fewest| fewest.shown().report.end_ns / report.end_ns)
    }

    /// The same of each run beside each on the fewest cores.
    pub(crate) fn speedups(&self, runs: &Runs) -> RangeInclusive<f64> {
        let times = |report: &Report, fewest: &Report| fewest.end_ns / report.end_ns;
        self.fewest().map_or(1.0..=1.0, |fewest| runs.beside(fewest, times))
    }

    /// The speedup of the part with threads of its own, where both runs have one.
    pub(crate) fn parallel_speedup(&self, report: &Report) -> Option<f64> {
        let first = self.fewest()?.shown().report.parallel?;
        Some(first.ns() / report.parallel?.ns()).filter(|ratio| ratio.is_finite())
    }
}
