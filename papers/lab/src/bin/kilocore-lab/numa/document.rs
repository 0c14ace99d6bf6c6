//! The results for programs: one JSON document, or a row for each point.

use kilocore_lab::numa::{Claims, Load, Point, claims};
use kilocore_show::{Parameter, Points, Provenance, Unit};

use super::outcome_columns::{on_nodes, outcome};
use serde::Serialize;

use super::results::Results;

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: Provenance,
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
    provenance: Provenance,
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
            provenance: Provenance::Simulated,
            machine: results.machine_name(),
            cpus: options.processors(),
            nodes: options.nodes,
            seed: options.seed,
            parameters: results.setting.parameters(),
            points: results.points,
            published: PublishedClaims {
                provenance: Provenance::Published,
                programs: results.loads.iter().filter_map(program).collect(),
            },
        }
    }
}

/// A row for each point.
pub(super) fn points(results: &Results<'_>) -> Points {
    let of = results.points.iter().map(|point| (point.program, &point.outcome));
    let points = on_nodes(of, results.machine_name(), results.setting)
        .same("seed", Unit::Count, results.setting.options.seed)
        .each("program", Unit::Name, |(program, _)| *program);
    outcome(points, |(_, outcome)| outcome).build()
}
