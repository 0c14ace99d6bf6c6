//! What tells how hard a task uses shared caches and memory.
//!
//! The thesis compares five candidates by how well they agree with measured intensity and by how
//! little a task's value changes with its neighbours, and takes references to the last-level cache per
//! instruction. All are here, so that the comparison can be made anew.

use core::fmt;

use crate::window::Counters;

/// A figure that processors' counters give for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Metric {
    /// References to the last-level cache per instruction: the choice of the thesis.
    #[default]
    ReferencesPerInstruction,
    /// References that go on to memory per instruction.
    MissesPerInstruction,
    /// References to the last-level cache per cycle.
    ReferencesPerCycle,
    /// References that go on to memory per cycle: the bandwidth that the task uses.
    MissesPerCycle,
    /// The share of references that go on to memory.
    MissRatio,
    /// Cycles that each instruction takes.
    CyclesPerInstruction,
}

impl Metric {
    /// Every metric, the choice of the thesis first.
    pub const ALL: [Metric; 6] = [
        Metric::ReferencesPerInstruction,
        Metric::MissesPerInstruction,
        Metric::ReferencesPerCycle,
        Metric::MissesPerCycle,
        Metric::MissRatio,
        Metric::CyclesPerInstruction,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Metric::ReferencesPerInstruction => "references-per-instruction",
            Metric::MissesPerInstruction => "misses-per-instruction",
            Metric::ReferencesPerCycle => "references-per-cycle",
            Metric::MissesPerCycle => "misses-per-cycle",
            Metric::MissRatio => "miss-ratio",
            Metric::CyclesPerInstruction => "cycles-per-instruction",
        }
    }

    /// The metric's value in millionths, nothing if what it divides by is nothing.
    #[must_use]
    pub fn of(self, counters: &Counters) -> u64 {
        let Counters { cycles, instructions, references, misses, .. } = *counters;
        match self {
            Metric::ReferencesPerInstruction => millionths(references, instructions),
            Metric::MissesPerInstruction => millionths(misses, instructions),
            Metric::ReferencesPerCycle => millionths(references, cycles),
            Metric::MissesPerCycle => millionths(misses, cycles),
            Metric::MissRatio => millionths(misses, references),
            Metric::CyclesPerInstruction => millionths(cycles, instructions),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A ratio in millionths.
pub(crate) fn millionths(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    u64::try_from(u128::from(part) * 1_000_000 / u128::from(whole)).unwrap_or(u64::MAX)
}

/// A value that follows what it is told, a quarter of the way each time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Smoothed(Option<u64>);

impl Smoothed {
    pub(crate) fn update(&mut self, seen: u64) {
        self.0 = Some(match self.0 {
            None => seen,
            Some(before) => before - before / 4 + seen / 4,
        });
    }

    pub(crate) fn get(self) -> u64 {
        self.0.unwrap_or(0)
    }
}
