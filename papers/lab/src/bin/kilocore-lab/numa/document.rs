//! The results for programs: one JSON document, or a row of CSV for each point.

use kilocore_lab::numa::{Claims, Load, Point, claims};
use kilocore_placement::Rule;
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
    seed: u64,
    parameters: Vec<Parameter>,
    points: &'a [Point],
    /// What the paper says of the programs.
    published: PublishedClaims,
}

#[derive(Debug, Serialize)]
struct PublishedClaims {
    provenance: &'static str,
    programs: Vec<Claims>,
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &'a Results<'a>) -> Self {
        let program = |load: &Load| match load {
            Load::Program(program, _) => Some(claims(*program)),
            Load::Synthetic(_) => None,
        };
        let options = &results.setting.options;
        Self {
            provenance: "simulated",
            machine: results.machine_name(),
            cpus: options.processors(),
            nodes: options.nodes,
            seed: options.seed,
            parameters: results.setting.parameters(),
            points: results.points,
            published: PublishedClaims {
                provenance: "published",
                programs: results.loads.iter().filter_map(program).collect(),
            },
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
    seed: u64,
    program: &'static str,
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

/// The points, a row each.
pub(super) fn csv_rows<'a>(results: &'a Results<'a>) -> impl Iterator<Item = CsvRow<'a>> {
    let options = &results.setting.options;
    results.points.iter().map(move |point| CsvRow {
        provenance: "simulated",
        machine: results.machine_name(),
        cpus: options.processors(),
        nodes: options.nodes,
        seed: options.seed,
        program: point.program,
        policy: point.outcome.policy,
        delay: point.outcome.delay,
        namc: point.outcome.namc,
        replications: point.outcome.replications,
        updates: point.outcome.updates,
        drops: point.outcome.counts.drops,
        migrations: point.outcome.counts.migrations,
        remote_reads: point.outcome.counts.remote_reads,
        references: point.outcome.counts.references(),
    })
}
