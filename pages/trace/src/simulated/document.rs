//! The results for programs: one JSON document, or a row for each point.

use crate::simulated::{Pattern, Point};
use kilocore_show::{Parameter, Points, Provenance, Unit};
use serde::Serialize;

use crate::simulated::results::{Results, Subject};

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(crate) struct Document<'a> {
    provenance: Provenance,
    machine: &'a str,
    seed: u64,
    /// The file of the trace, if there is one.
    trace: Option<&'a str>,
    /// The program that was recorded.
    command: Option<&'a [String]>,
    pattern: Option<&'static str>,
    parameters: Vec<Parameter>,
    points: &'a [Point],
}

impl<'a> Document<'a> {
    pub(crate) fn new(results: &'a Results<'a>) -> Self {
        let (trace, command) = match results.plan.subject {
            Subject::Trace { name, trace } => (Some(name), Some(&trace.header.about.command[..])),
            Subject::Pattern(_) => (None, None),
        };
        Self {
            provenance: Provenance::Simulated,
            machine: &results.plan.machine.name,
            seed: results.plan.seed,
            trace,
            command,
            pattern: pattern(results.plan.subject).map(Pattern::name),
            parameters: results.plan.setting.parameters(),
            points: &results.points,
        }
    }
}

fn pattern(subject: Subject<'_>) -> Option<Pattern> {
    match subject {
        Subject::Trace { .. } => None,
        Subject::Pattern(pattern) => Some(pattern),
    }
}

/// A row for each point.
pub(crate) fn points(results: &Results<'_>) -> Points {
    let load = match results.plan.subject {
        Subject::Trace { name, .. } => name,
        Subject::Pattern(pattern) => pattern.name(),
    };
    Points::of(Provenance::Simulated, &results.points)
        .same("machine", Unit::Name, &*results.plan.machine.name)
        .same("seed", Unit::Count, results.plan.seed)
        .same("load", Unit::Name, load)
        .each("policy", Unit::Name, |point| point.policy)
        .each("cores", Unit::Count, |point| point.cores)
        .each("initialization_mean_cycles", Unit::Cycles, |point| point.initialization.mean)
        .each("initialization_10_percent", Unit::Cycles, |point| point.initialization.percentile_10)
        .each("initialization_50_percent", Unit::Cycles, |point| point.initialization.median)
        .each("initialization_90_percent", Unit::Cycles, |point| point.initialization.percentile_90)
        .each("initialization_99_percent", Unit::Cycles, |point| point.initialization.percentile_99)
        .each("found_private", Unit::Share, |point| point.found.private)
        .each("found_shared", Unit::Share, |point| point.found.shared)
        .each("found_other_core", Unit::Share, |point| point.found.other_core)
        .each("found_memory", Unit::Share, |point| point.found.memory)
        .each("allocation_cycles", Unit::Cycles, |point| point.allocation_cycles)
        .each("release_cycles", Unit::Cycles, |point| point.release_cycles)
        .each("pages_per_s", Unit::PerSecond, |point| point.pages_per_s)
        .build()
}
