//! The results for programs: one JSON document, or a row of CSV for each point.

use crate::simulated::{Pattern, Point};
use kilocore_show::Parameter;
use serde::Serialize;

use crate::simulated::results::{Results, Subject};

/// Everything.
#[derive(Debug, Serialize)]
pub(crate) struct Document<'a> {
    provenance: &'static str,
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
    pub(crate) fn new(results: &Results<'a>) -> Self {
        let (trace, command) = match results.subject {
            Subject::Trace { name, trace } => (Some(name), Some(&trace.header.about.command[..])),
            Subject::Pattern(_) => (None, None),
        };
        Self {
            provenance: "simulated",
            machine: &results.machine.name,
            seed: results.seed,
            trace,
            command,
            pattern: pattern(results.subject).map(Pattern::name),
            parameters: results.setting.parameters(),
            points: results.points,
        }
    }
}

fn pattern(subject: Subject<'_>) -> Option<Pattern> {
    match subject {
        Subject::Trace { .. } => None,
        Subject::Pattern(pattern) => Some(pattern),
    }
}

/// A row of CSV.
#[derive(Debug, Serialize)]
pub(crate) struct CsvRow<'a> {
    provenance: &'static str,
    machine: &'a str,
    seed: u64,
    load: String,
    policy: &'static str,
    cores: u32,
    initialization_mean_cycles: f64,
    initialization_10_percent: u64,
    initialization_50_percent: u64,
    initialization_90_percent: u64,
    initialization_99_percent: u64,
    found_private: f64,
    found_shared: f64,
    found_other_core: f64,
    found_memory: f64,
    allocation_cycles: f64,
    release_cycles: f64,
    pages_per_s: f64,
}

/// The points, a row each.
pub(crate) fn csv_rows<'a>(results: &Results<'a>) -> impl Iterator<Item = CsvRow<'a>> {
    let (machine, seed) = (&results.machine.name, results.seed);
    let load = match results.subject {
        Subject::Trace { name, .. } => name.to_owned(),
        Subject::Pattern(pattern) => pattern.name().to_owned(),
    };
    results.points.iter().map(move |point| CsvRow {
        provenance: "simulated",
        machine,
        seed,
        load: load.clone(),
        policy: point.policy,
        cores: point.cores,
        initialization_mean_cycles: point.initialization.mean,
        initialization_10_percent: point.initialization.percentile_10,
        initialization_50_percent: point.initialization.median,
        initialization_90_percent: point.initialization.percentile_90,
        initialization_99_percent: point.initialization.percentile_99,
        found_private: point.found.private,
        found_shared: point.found.shared,
        found_other_core: point.found.other_core,
        found_memory: point.found.memory,
        allocation_cycles: point.allocation_cycles,
        release_cycles: point.release_cycles,
        pages_per_s: point.pages_per_s,
    })
}
