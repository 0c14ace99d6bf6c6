//! Runs of a study beside those that they are held against.

use std::ops::RangeInclusive;

use kilocore_emulation_orders::{Report, ThreadTimes};

use crate::{Runs, Variant};

/// Runs of a program under the same locks, on as many cores.
pub(crate) struct Row<'a> {
    pub(crate) variant: &'a Variant,
    pub(crate) cores: u32,
    pub(crate) runs: &'a Runs,
    /// The same with the program's own locks.
    pub(crate) own: &'a Runs,
}

/// Those of all variants of a program, of which the first is the program as it is.
pub(crate) fn of(variants: &[Variant]) -> impl Iterator<Item = Row<'_>> {
    let own = variants.first().map_or(&[][..], |own| &own.points);
    let of = move |variant| rows_of(variant, own);
    variants.iter().flat_map(of)
}

fn rows_of<'a>(variant: &'a Variant, own: &'a [(u32, Runs)]) -> impl Iterator<Item = Row<'a>> {
    let rows = variant.points.iter().zip(own);
    rows.map(move |((cores, runs), (_, own))| Row { variant, cores: *cores, runs, own })
}

/// The time that a run takes as others see it beside another one: while it has threads, if both have some. To load
/// the library with the locks takes longer than a short run does.
pub(crate) fn compared_ns(report: &Report, other: &Report) -> f64 {
    match (report.parallel, other.parallel) {
        (Some(parallel), Some(_)) => parallel.ns(),
        _ => report.end_ns,
    }
}

/// How many times as fast as the program with its own locks, while it has threads.
fn gain(report: &Report, own: &Report) -> f64 {
    compared_ns(own, report) / compared_ns(report, own)
}

/// The columns of how a program scales, behind those of its time.
pub(crate) const AFTER_TIME: [&str; 8] = [
    "faster",
    "alone",
    "threads faster",
    "computes",
    "waits for lines",
    "spins",
    "in kernel",
    "idle",
];

/// The parts of the time of all threads' cores that each kind of time is. The rest they had no core, or slept.
pub(crate) fn shares(cores: u32, end_ns: f64, threads: &[ThreadTimes]) -> [f64; 5] {
    let sum = |of: fn(&ThreadTimes) -> f64| threads.iter().map(of).sum::<f64>();
    let all = end_ns * f64::from(cores);
    let parts = [
        sum(|thread| thread.working_ns),
        sum(|thread| thread.stalled_ns),
        sum(|thread| thread.spinning_ns),
        sum(|thread| thread.system_ns),
    ]
    .map(|ns| ns / all);
    let idle = (1.0 - parts.iter().sum::<f64>()).max(0.0);
    [parts[0], parts[1], parts[2], parts[3], idle]
}

impl Row<'_> {
    /// How many times as fast as the program as it is, on as many cores.
    pub(crate) fn gain(&self) -> f64 {
        gain(&self.runs.shown().report, &self.own.shown().report)
    }

    /// The same of each run beside each run of the program as it is.
    pub(crate) fn gains(&self) -> RangeInclusive<f64> {
        self.runs.beside(self.own, gain)
    }

    /// Whether the program makes threads, and does so with its own locks.
    pub(crate) fn has_threads(&self) -> bool {
        [self.runs, self.own].iter().all(|runs| runs.shown().report.parallel.is_some())
    }

    /// Whether chance decides how large the gain is.
    pub(crate) fn gain_differs(&self) -> bool {
        self.runs.differ() || self.own.differ()
    }

    /// How many times as fast as on the fewest cores.
    pub(crate) fn speedup(&self) -> f64 {
        self.variant.speedup(&self.runs.shown().report)
    }

    /// The same of each run beside each on the fewest cores.
    pub(crate) fn speedups(&self) -> RangeInclusive<f64> {
        self.variant.speedups(self.runs)
    }

    /// How many times as fast as on the fewest cores the part with threads of its own is, where both runs have one.
    pub(crate) fn parallel_speedup(&self) -> Option<f64> {
        self.variant.parallel_speedup(&self.runs.shown().report)
    }
}
