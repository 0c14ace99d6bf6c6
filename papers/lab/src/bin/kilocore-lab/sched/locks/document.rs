//! The results for programs: one JSON document, or a row of CSV for each point.

use kilocore_lab::sched::locks::{KernelLock, Point};
use kilocore_show::Parameter;
use serde::Serialize;

use super::results::Results;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: &'static str,
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
            provenance: "simulated",
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

/// A row of CSV.
#[derive(Debug, Serialize)]
pub(super) struct CsvRow<'a> {
    provenance: &'static str,
    machine: &'a str,
    seed: u64,
    load: &'static str,
    lock: KernelLock,
    policy: &'a str,
    cores: u32,
    throughput: f64,
    throughput_with_search: f64,
    speedup: Option<f64>,
    waiting: f64,
    watts: f64,
    joules: f64,
    joules_per_operation: f64,
    fairness: f64,
    k: Option<u32>,
    found_after: Option<u32>,
}

/// The points, a row each.
pub(super) fn csv_rows<'a>(results: &Results<'a>) -> impl Iterator<Item = CsvRow<'a>> {
    let (machine, seed) = (&results.machine.name, results.plan.length.seed);
    results.points.iter().map(move |point| CsvRow {
        provenance: "simulated",
        machine,
        seed,
        load: point.load,
        lock: point.lock,
        policy: &point.policy,
        cores: point.cores,
        throughput: point.throughput,
        throughput_with_search: point.throughput_with_search,
        speedup: point.speedup,
        waiting: point.waiting,
        watts: point.watts,
        joules: point.joules,
        joules_per_operation: point.joules_per_operation,
        fairness: point.fairness,
        k: point.k,
        found_after: point.found_after,
    })
}
