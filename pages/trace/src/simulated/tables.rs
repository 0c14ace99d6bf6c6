//! The results for people.

use crate::simulated::{Point, Policy};
use kilocore_show::{Table, number};

use crate::simulated::results::{Results, Subject};

/// All tables: two with a row for each policy if there is one number of cores, else some with a row for each
/// number.
pub(crate) fn all(results: &Results<'_>) -> Vec<Table> {
    match results.cores {
        &[cores] => vec![latency(results, cores), paths(results, cores)],
        _ => by_cores(results),
    }
}

/// A row for each policy.
fn by_policy(
    results: &Results<'_>,
    cores: u32,
    title: String,
    headings: Vec<&'static str>,
    cells: impl Fn(Policy, &Point) -> Vec<String>,
) -> Table {
    let row = |&policy: &Policy| {
        let point = results.point(policy, cores)?;
        Some((policy.name().to_owned(), cells(policy, point)))
    };
    Table {
        title,
        front: "policy",
        headings,
        rows: results.policies.iter().filter_map(row).collect(),
        below: Vec::new(),
    }
}

fn latency(results: &Results<'_>, cores: u32) -> Table {
    let title = format!(
        "{}: cycles to initialize a page, {cores} hardware threads ({})",
        results.what(),
        results.mark().plain()
    );
    let mut headings = vec!["mean", "10 %", "50 %", "90 %", "99 %"];
    headings.extend(["private", "shared", "other core", "memory"]);
    if results.has_baseline() {
        headings.insert(1, "× 4.18");
    }
    let mut table = by_policy(results, cores, title, headings, |policy, point| {
        let latency = &point.initialization;
        let mut cells = vec![number::count(latency.mean.round() as u64)];
        if results.has_baseline() {
            cells.push(ratio(
                results.over_baseline(policy, cores, |point| point.initialization.mean),
            ));
        }
        let percentiles =
            [latency.percentile_10, latency.median, latency.percentile_90, latency.percentile_99];
        cells.extend(percentiles.map(number::count));
        let found = &point.found;
        let shares = [found.private, found.shared, found.other_core, found.memory];
        cells.extend(shares.map(number::percent));
        cells
    });
    table.below.push(
        "private, shared, other core, memory: where the lines of these pages were found".to_owned(),
    );
    if matches!(results.subject, Subject::Trace { .. }) {
        table.below.push(
            "published (i7-6700, Basemark Web 3.0): the paper's tiers 0.93 × 4.18; of 4.18 itself, that a \
             page takes at most 1,400 of a fault's 3,400 cycles (on an older Xeon)"
                .to_owned(),
        );
    }
    table
}

fn paths(results: &Results<'_>, cores: u32) -> Table {
    let title = format!("{}: cycles to allocate and to release a page (simulated)", results.what());
    let mut headings = vec!["allocate", "release", "pages per second"];
    if results.has_baseline() {
        headings.insert(2, "both × 4.18");
    }
    let mut table = by_policy(results, cores, title, headings, |policy, point| {
        let cycles = |mean: f64| number::count(mean.round() as u64);
        let mut cells = vec![cycles(point.allocation_cycles), cycles(point.release_cycles)];
        if results.has_baseline() {
            cells.push(ratio(results.over_baseline(policy, cores, both)));
        }
        cells.push(number::figure(point.pages_per_s));
        cells
    });
    if matches!(results.subject, Subject::Trace { .. }) {
        table.below.push("published: the paper's tiers 1.01 × 4.18".to_owned());
    }
    table
}

fn both(point: &Point) -> f64 {
    point.allocation_cycles + point.release_cycles
}

fn ratio(ratio: f64) -> String {
    if ratio.is_finite() { format!("{ratio:.3}") } else { "–".to_owned() }
}

/// What a table shows of points, and how.
type Figure = (&'static str, fn(&Point) -> String);

/// A row for each number of cores, a column for each policy.
fn by_cores(results: &Results<'_>) -> Vec<Table> {
    let figures: [Figure; 5] = [
        ("cycles to initialize a page", |point| {
            number::count(point.initialization.mean.round() as u64)
        }),
        ("share of the lines of these pages found in memory", |point| {
            number::percent(point.found.memory)
        }),
        (
            "cycles to allocate a page",
            |point| number::count(point.allocation_cycles.round() as u64),
        ),
        ("cycles to release a page", |point| number::count(point.release_cycles.round() as u64)),
        ("million pages per second", |point| number::figure(point.pages_per_s / 1e6)),
    ];
    let table = |(title, cell): Figure| {
        let row = |&cores: &u32| {
            let cells = results
                .policies
                .iter()
                .map(|&policy| results.point(policy, cores).map_or_else(|| "–".to_owned(), cell));
            (cores.to_string(), cells.collect())
        };
        Table {
            title: format!("{}: {title} ({})", results.what(), results.mark().plain()),
            front: "threads",
            headings: results.policies.iter().map(|policy| policy.name()).collect(),
            rows: results.cores.iter().map(row).collect(),
            below: Vec::new(),
        }
    };
    figures.into_iter().map(table).collect()
}
