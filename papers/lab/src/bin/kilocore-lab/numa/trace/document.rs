//! The results for programs: one JSON document, or a row of CSV for each policy.

use kilocore_placement::Outcome;
use kilocore_show::{Parameter, Points, Provenance};

use super::super::outcome_columns::{on_nodes, outcome};
use serde::Serialize;

use super::results::Results;

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: Provenance,
    machine: &'a str,
    cpus: u32,
    nodes: u32,
    command: &'a [String],
    recorded_at: &'a str,
    threads: u32,
    not_covered: &'a [String],
    parameters: Vec<Parameter>,
    points: &'a [Outcome],
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &'a Results<'a>) -> Self {
        let options = &results.setting.options;
        Self {
            provenance: Provenance::Simulated,
            machine: results.machine_name(),
            cpus: options.processors(),
            nodes: options.nodes,
            command: &results.about.command,
            recorded_at: &results.about.recorded_at,
            threads: results.threads,
            not_covered: &results.about.not_covered,
            parameters: results.setting.parameters(),
            points: results.outcomes,
        }
    }
}

/// A row for each policy.
pub(super) fn points(results: &Results<'_>) -> Points {
    let points = on_nodes(results.outcomes, results.machine_name(), results.setting);
    outcome(points, |outcome| outcome).build()
}
