//! The results for programs: one JSON document, or a row of CSV for each policy.

use kilocore_placement::{Outcome, Rule};
use kilocore_show::Parameter;
use serde::Serialize;

use super::results::Results;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: &'static str,
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
            provenance: "simulated",
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

/// A row of CSV.
#[derive(Debug, Serialize)]
pub(super) struct CsvRow<'a> {
    provenance: &'static str,
    machine: &'a str,
    cpus: u32,
    nodes: u32,
    policy: Rule,
    delay: Option<u32>,
    namc: f64,
    replications: u64,
    updates: u64,
    drops: u64,
    migrations: u64,
    remote_reads: u64,
    references: u64,
}

/// The policies, a row each.
pub(super) fn csv_rows<'a>(results: &'a Results<'a>) -> impl Iterator<Item = CsvRow<'a>> {
    let options = &results.setting.options;
    results.outcomes.iter().map(move |outcome| CsvRow {
        provenance: "simulated",
        machine: results.machine_name(),
        cpus: options.processors(),
        nodes: options.nodes,
        policy: outcome.policy,
        delay: outcome.delay,
        namc: outcome.namc,
        replications: outcome.replications,
        updates: outcome.updates,
        drops: outcome.counts.drops,
        migrations: outcome.counts.migrations,
        remote_reads: outcome.counts.remote_reads,
        references: outcome.counts.references(),
    })
}
