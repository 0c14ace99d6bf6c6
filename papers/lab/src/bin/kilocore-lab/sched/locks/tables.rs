//! The results for people: speed-ups by cores, and what goes on with all of them.

use kilocore_lab::sched::locks::{Choice, Load, Point};
use kilocore_show::{Table, number};

use super::results::{Results, speedup};

/// All tables.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for load in &results.plan.loads {
        for &choice in &results.plan.choices {
            tables.push(speedups(results, load, choice));
        }
        tables.push(with_all_cores(results, load));
    }
    tables
}

/// A row for each number of cores, a column for each lock.
fn speedups(results: &Results<'_>, load: &Load, choice: Choice) -> Table {
    let locks = &results.plan.locks;
    let curves: Vec<Vec<&Point>> =
        locks.iter().map(|&lock| results.curve(load, lock, choice)).collect();
    let row = |(index, &cores): (usize, &u32)| {
        let cells = curves.iter().map(|curve| number::multiple(speedup(curve[index])));
        (cores.to_string(), cells.collect())
    };
    Table {
        title: format!("{}: speed-up under {choice} ({})", load.name, results.mark().plain()),
        front: "cores",
        headings: locks.iter().map(|lock| lock.name()).collect(),
        rows: results.plan.cores.iter().enumerate().map(row).collect(),
        below: Vec::new(),
    }
}

/// A row for each lock and who schedules, on the largest number of cores.
fn with_all_cores(results: &Results<'_>, load: &Load) -> Table {
    let mut rows = Vec::new();
    for &lock in &results.plan.locks {
        for &choice in &results.plan.choices {
            let curve = results.curve(load, lock, choice);
            let Some(last) = curve.last() else { continue };
            let peak = curve.iter().map(|point| point.throughput).fold(0.0, f64::max);
            rows.push((format!("{lock}, {choice}"), cells(last, peak)));
        }
    }
    let cores = results.plan.cores.last().copied().unwrap_or(1);
    Table {
        title: format!("{}: {cores} cores ({})", load.name, results.mark().plain()),
        front: "lock, policy",
        headings: vec![
            "operations",
            "of its peak",
            "waiting",
            "power",
            "an operation",
            "fairness",
            "k",
        ],
        rows,
        below: vec![
            "k: cores to which the processes are confined, and after how many windows of contention it was found".to_owned(),
            published(load),
        ],
    }
}

fn cells(point: &Point, peak: f64) -> Vec<String> {
    let k = match (point.k, point.found_after) {
        (Some(k), Some(windows)) => format!("{k} after {windows}"),
        (Some(k), None) => k.to_string(),
        (None, _) => "–".to_owned(),
    };
    vec![
        number::per_second(point.throughput),
        number::percent(point.throughput / peak),
        number::percent(point.waiting),
        format!("{:.0} W", point.watts),
        number::joules(point.joules_per_operation),
        format!("{:.3}", point.fairness),
        k,
    ]
}

/// What the thesis shows, which has no figures.
fn published(load: &Load) -> String {
    let shape = if load.collapses { "collapses" } else { "does not collapse" };
    format!("published, shape only: {} {shape} under the spin lock", load.name)
}
