//! The results for programs: one JSON document, or a row for each point.

use kilocore_lab::sched::locks::Point;
use kilocore_show::{Parameter, Points, Provenance, Unit};
use serde::Serialize;

use super::results::Results;

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: Provenance,
    experiment: &'static str,
    machine: &'a str,
    seed: u64,
    window_us: u32,
    noise_percent: u32,
    loads: Vec<LoadParameters>,
    points: &'a [Point],
}

#[derive(Debug, Serialize)]
struct LoadParameters {
    load: &'static str,
    /// Whether the thesis shows it to collapse under the spin lock.
    collapses: bool,
    parameters: Vec<Parameter>,
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &Results<'a>) -> Self {
        let plan = results.plan;
        let loads = plan.loads.iter().map(|load| LoadParameters {
            load: load.name,
            collapses: load.collapses,
            parameters: load.parameters(),
        });
        Self {
            provenance: Provenance::Simulated,
            experiment: "locks",
            machine: &results.machine.name,
            seed: plan.length.seed,
            window_us: plan.length.window_us,
            noise_percent: plan.noise,
            loads: loads.collect(),
            points: results.points,
        }
    }
}

/// A row for each point.
pub(super) fn points(results: &Results<'_>) -> Points {
    Points::of(Provenance::Simulated, results.points)
        .same("machine", Unit::Name, &*results.machine.name)
        .same("seed", Unit::Count, results.plan.length.seed)
        .each("load", Unit::Name, |point| point.load)
        .each("lock", Unit::Name, |point| point.lock.name())
        .each("policy", Unit::Name, |point| &*point.policy)
        .each("cores", Unit::Count, |point| point.cores)
        .each("throughput", Unit::PerSecond, |point| point.throughput)
        .each("throughput_with_search", Unit::PerSecond, |point| point.throughput_with_search)
        .each("speedup", Unit::Ratio, |point| point.speedup)
        .each("waiting", Unit::Share, |point| point.waiting)
        .each("watts", Unit::Watts, |point| point.watts)
        .each("joules", Unit::Joules, |point| point.joules)
        .each("joules_per_operation", Unit::Joules, |point| point.joules_per_operation)
        .each("fairness", Unit::Share, |point| point.fairness)
        .each("k", Unit::Count, |point| point.k)
        .each("found_after", Unit::Count, |point| point.found_after)
        .build()
}
