//! The results for people.

use crate::simulated::{Point, Policy};
use kilocore_show::{Mark, Provenance, Table, number};

use crate::simulated::results::{Results, Subject};

/// All tables: two with a row for each policy if there is one number of cores, else some with a row for each
/// number.
pub(crate) fn all(results: &Results<'_>) -> Vec<Table> {
    match results.plan.cores {
        &[cores] => {
            let beside = results.has_baseline().then(|| beside_baseline(results, cores));
            [latency(results, cores), paths(results, cores)].into_iter().chain(beside).collect()
        }
        _ => by_cores(results),
    }
}

/// A row for each policy.
fn by_policy(
    results: &Results<'_>,
    cores: u32,
    name: &str,
    title: String,
    headings: Vec<&'static str>,
    cells: impl Fn(Policy, &Point) -> Vec<String>,
) -> Table {
    let row = |&policy: &Policy| {
        let point = results.point(policy, cores)?;
        Some((policy.name().to_owned(), cells(policy, point)))
    };
    Table {
        name: name.to_owned(),
        title,
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "policy",
        headings: headings.into_iter().collect(),
        rows: results.plan.policies.iter().filter_map(row).collect(),
        below: Vec::new(),
    }
}

fn latency(results: &Results<'_>, cores: u32) -> Table {
    let title =
        format!("{}: cycles to initialize a page, {cores} hardware threads", results.what());
    let mut headings = vec!["mean", "10 %", "50 %", "90 %", "99 %"];
    headings.extend(["private", "shared", "other core", "memory"]);
    if results.has_baseline() {
        headings.insert(1, "× 4.18");
    }
    let mut table = by_policy(results, cores, "latency", title, headings, |policy, point| {
        let latency = &point.initialization;
        let mut cells = vec![number::count(latency.mean.round() as u64)];
        if results.has_baseline() {
            cells.push(ratio(
                results.over_baseline(policy, cores, |point| point.initialization.mean),
            ));
        }
        cells.extend(latency.percentiles());
        let found = &point.found;
        let shares = [found.private, found.shared, found.other_core, found.memory];
        cells.extend(shares.map(number::percent));
        cells
    });
    table.mark = Some(results.mark());
    table.below.push(
        "private, shared, other core, memory: where the lines of these pages were found".to_owned(),
    );
    if matches!(results.plan.subject, Subject::Trace { .. }) {
        table.below.push(
            "published (i7-6700, Basemark Web 3.0): the paper's tiers 0.93 × 4.18; of 4.18 itself, that a \
             page takes at most 1,400 of a fault's 3,400 cycles (on an older Xeon)"
                .to_owned(),
        );
    }
    table
}

fn paths(results: &Results<'_>, cores: u32) -> Table {
    let title = format!("{}: cycles to allocate and to release a page", results.what());
    let mut headings = vec!["allocate", "release", "pages per second"];
    if results.has_baseline() {
        headings.insert(2, "both × 4.18");
    }
    let mut table = by_policy(results, cores, "paths", title, headings, |policy, point| {
        let cycles = |mean: f64| number::count(mean.round() as u64);
        let mut cells = vec![cycles(point.allocation_cycles), cycles(point.release_cycles)];
        if results.has_baseline() {
            cells.push(ratio(results.over_baseline(policy, cores, both)));
        }
        cells.push(number::figure(point.pages_per_s));
        cells
    });
    if matches!(results.plan.subject, Subject::Trace { .. }) {
        table.below.push("published: the paper's tiers 1.01 × 4.18".to_owned());
    }
    table
}

/// One row, to stand below those of other programs.
fn beside_baseline(results: &Results<'_>, cores: u32) -> Table {
    let baseline = results.point(Policy::Linux4_18, cores);
    let others = || results.plan.policies.iter().filter(|&&policy| policy != Policy::Linux4_18);
    let setting = results.plan.setting;
    let mean = |point: &Point| point.initialization.mean;
    let known = [
        format!("{}", setting.other_pages),
        number::percent(setting.used_before_release),
        number::count(baseline.map_or(0.0, mean).round() as u64),
        number::percent(baseline.map_or(f64::NAN, |point| point.found.memory)),
    ];
    let ratios = others().map(|&policy| ratio(results.over_baseline(policy, cores, mean)));
    Table {
        name: "beside-4.18".to_owned(),
        title: "Cycles to initialize a page, beside 4.18".to_owned(),
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "load",
        headings: ["other pages", "used before", "4.18", "of it in memory"]
            .into_iter()
            .chain(others().map(|policy| policy.name()))
            .collect(),
        rows: vec![(results.load_name(), known.into_iter().chain(ratios).collect())],
        below: Vec::new(),
    }
}

fn both(point: &Point) -> f64 {
    point.allocation_cycles + point.release_cycles
}

fn ratio(ratio: f64) -> String {
    if ratio.is_finite() { format!("{ratio:.3}") } else { "–".to_owned() }
}

/// What a table shows of points, and how.
type Figure = (&'static str, &'static str, fn(&Point) -> String);

/// A row for each number of cores, a column for each policy.
fn by_cores(results: &Results<'_>) -> Vec<Table> {
    let figures: [Figure; 5] = [
        ("initialization", "cycles to initialize a page", |point| {
            number::count(point.initialization.mean.round() as u64)
        }),
        ("memory", "share of the lines of these pages found in memory", |point| {
            number::percent(point.found.memory)
        }),
        ("allocation", "cycles to allocate a page", |point| {
            number::count(point.allocation_cycles.round() as u64)
        }),
        ("release", "cycles to release a page", |point| {
            number::count(point.release_cycles.round() as u64)
        }),
        ("rate", "million pages per second", |point| number::figure(point.pages_per_s / 1e6)),
    ];
    let table = |(name, title, cell): Figure| {
        let row = |&cores: &u32| {
            let cells =
                results.plan.policies.iter().map(|&policy| {
                    results.point(policy, cores).map_or_else(|| "–".to_owned(), cell)
                });
            (cores.to_string(), cells.collect())
        };
        Table {
            name: name.to_owned(),
            title: format!("{}: {title}", results.what()),
            mark: Some(results.mark()),
            front: "threads",
            headings: results.plan.policies.iter().map(|policy| policy.name()).collect(),
            rows: results.plan.cores.iter().map(row).collect(),
            below: Vec::new(),
        }
    };
    figures.into_iter().map(table).collect()
}
