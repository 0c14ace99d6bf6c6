//! The results for programs: one JSON document, or a row for each point.

use kilocore_lab::kernel::Point;
use kilocore_lab::ldu::{Level, Published, Workload, published};
use kilocore_show::{Parameter, Points, Provenance, Unit};
use serde::Serialize;

use super::parameters;
use super::results::Results;

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: Provenance,
    machine: &'a str,
    seed: u64,
    operation: &'a str,
    kernel: &'a str,
    beside: Option<Workload>,
    parameters: Vec<Parameter>,
    points: &'a [Point],
    published: Option<PublishedFigures>,
}

#[derive(Debug, Serialize)]
struct PublishedFigures {
    provenance: Provenance,
    /// Of the stock kernel, in operations per second; each says how it is known.
    levels: Vec<Level>,
    throughput: Published,
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &Results<'a>) -> Self {
        let path = &results.setting.path;
        Self {
            provenance: Provenance::Simulated,
            machine: &results.machine.name,
            seed: results.setting.seed,
            operation: &path.operation,
            kernel: &path.kernel,
            beside: results.beside.map(|beside| beside.workload),
            parameters: parameters(results),
            points: results.points,
            published: results.beside.map(|beside| PublishedFigures {
                provenance: Provenance::Published,
                levels: results.levels(),
                throughput: published(beside.workload),
            }),
        }
    }
}

/// A row for each point.
pub(super) fn points(results: &Results<'_>) -> Points {
    let path = &results.setting.path;
    let each = |count: fn(&Point) -> u64| {
        move |point: &&Point| count(point) as f64 / point.operations.max(1) as f64
    };
    Points::of(Provenance::Simulated, results.points.iter())
        .same("machine", Unit::Name, &*results.machine.name)
        .same("seed", Unit::Count, results.setting.seed)
        .same("operation", Unit::Name, &*path.operation)
        .same("kernel", Unit::Name, &*path.kernel)
        .each("scheme", Unit::Name, |point| point.scheme)
        .each("cores", Unit::Count, |point| point.cores)
        .each("operations_per_s", Unit::PerSecond, |point| point.operations_per_s)
        .each("idle", Unit::Share, |point| point.idle)
        .each("locks_of_trees", Unit::Ratio, each(|point| point.trees.locked))
        .each("logged", Unit::Ratio, each(|point| point.trees.logged))
        .each("cancelled", Unit::Ratio, each(|point| point.trees.cancelled))
        .each("found_held", Unit::Ratio, each(|point| point.trees.held))
        .build()
}
