//! The results for programs: one JSON document, or a row for each point.

use kilocore_lab::ldu::{BreakEven, Level, Published, RATIOS, TIMES, Workload, levels, published};
use kilocore_show::{Parameter, Points, Provenance, Unit};
use serde::Serialize;

use super::results::Results;

/// Of which machine the published figures are.
pub(super) const PUBLISHED_ON: &str = "120 cores of 8 Intel Xeon E7-8870";

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: Provenance,
    machine: &'a str,
    seed: u64,
    workload: Workload,
    unit: &'static str,
    parameters: Vec<Parameter>,
    points: Vec<Row>,
    /// Against the stock kernel at the same share of updates, on the most cores; empty without
    /// several shares and the stock kernel.
    break_even: Vec<SchemeBreakEven>,
    published: PublishedFigures,
}

#[derive(Debug, Serialize)]
struct Row {
    scheme: &'static str,
    cores: u32,
    /// The share that was asked for.
    updates_percent: f64,
    throughput_per_s: f64,
    user: f64,
    sys: f64,
    idle: f64,
}

#[derive(Debug, Serialize)]
struct SchemeBreakEven {
    scheme: &'static str,
    cores: u32,
    /// From which share of updates on it is ahead, and which of the three it is.
    #[serde(flatten)]
    updates_percent: BreakEven,
}

#[derive(Debug, Serialize)]
struct PublishedFigures {
    provenance: Provenance,
    machine: &'static str,
    throughput: Published,
    /// Of the stock kernel; each says how it is known.
    levels: [Level; 4],
    times: Vec<PublishedTimes>,
    by_updates: Option<PublishedByUpdates>,
}

/// A line of table 2.1, as shares of the cores' time, from 0 to 1.
#[derive(Debug, Serialize)]
struct PublishedTimes {
    scheme: &'static str,
    user: f64,
    sys: f64,
    idle: f64,
}

/// A line of figure 2.11, which varies the share of updates.
#[derive(Debug, Serialize)]
struct PublishedByUpdates {
    scheme: &'static str,
    /// Throughput over that of the stock kernel without further walks.
    over_stock: Vec<PublishedRatio>,
}

#[derive(Debug, Serialize)]
struct PublishedRatio {
    updates_percent: f64,
    ratio: f64,
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &Results<'a>) -> Self {
        let workload = results.setting.workload;
        let break_even = results.break_evens().into_iter().map(|(scheme, updates_percent)| {
            let cores = results.most_cores();
            SchemeBreakEven { scheme: scheme.name(), cores, updates_percent }
        });
        Self {
            provenance: Provenance::Simulated,
            machine: &results.machine.name,
            seed: results.seed,
            workload,
            unit: workload.unit(),
            parameters: results.setting.parameters(),
            points: rows(results).collect(),
            break_even: break_even.collect(),
            published: PublishedFigures::of(workload),
        }
    }
}

fn rows(results: &Results<'_>) -> impl Iterator<Item = Row> {
    results.each().map(|(updates_percent, point)| Row {
        scheme: point.scheme,
        cores: point.cores,
        updates_percent,
        throughput_per_s: point.throughput_per_s,
        user: point.user,
        sys: point.sys,
        idle: point.idle,
    })
}

impl PublishedFigures {
    fn of(workload: Workload) -> Self {
        let times = TIMES.iter().filter(|times| times.workload == workload).map(|times| {
            let [user, sys, idle] = times.shares();
            PublishedTimes { scheme: times.scheme, user, sys, idle }
        });
        let by_updates = RATIOS.iter().find(|ratio| ratio.workload == workload).map(|ratio| {
            let over_stock = ratio.over_stock().into_iter();
            let ratio = |(updates_percent, ratio)| PublishedRatio { updates_percent, ratio };
            let over_stock = over_stock.map(ratio).collect();
            PublishedByUpdates { scheme: "ldu-global", over_stock }
        });
        Self {
            provenance: Provenance::Published,
            machine: PUBLISHED_ON,
            throughput: published(workload),
            levels: levels(workload),
            times: times.collect(),
            by_updates,
        }
    }
}

/// A row for each point.
pub(super) fn points(results: &Results<'_>) -> Points {
    let (machine, workload) = (results.machine, results.setting.workload);
    Points::of(Provenance::Simulated, rows(results))
        .same("machine", Unit::Name, &*machine.name)
        .same("seed", Unit::Count, results.seed)
        .same("workload", Unit::Name, workload.name())
        .same("unit", Unit::Name, workload.unit())
        .each("scheme", Unit::Name, |row| row.scheme)
        .each("cores", Unit::Count, |row| row.cores)
        .each("updates_percent", Unit::Percent, |row| row.updates_percent)
        .each("throughput_per_s", Unit::PerSecond, |row| row.throughput_per_s)
        .each("user", Unit::Share, |row| row.user)
        .each("sys", Unit::Share, |row| row.sys)
        .each("idle", Unit::Share, |row| row.idle)
        .build()
}
