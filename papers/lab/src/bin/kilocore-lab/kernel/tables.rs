//! The results for people.

use kilocore_lab::kernel::{Point, TreeScheme};
use kilocore_lab::ldu::{Level, Origin, published};
use kilocore_show::{Table, number};

use super::results::Results;

/// What the stock kernel did in the paper.
const PUBLISHED_STOCK: &str = "stock, published";

pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables = vec![by_cores(results)];
    tables.extend(results.schemes.iter().filter_map(|&scheme| limiters(results, scheme)));
    tables.push(trees(results));
    tables
}

fn rate_in_words(rate: f64) -> String {
    if rate >= 1e4 {
        number::count((rate / 100.0).round() as u64 * 100)
    } else {
        number::figure(rate)
    }
}

fn by_cores(results: &Results<'_>) -> Table {
    let row = |&scheme: &TreeScheme| {
        let rate = |&cores: &u32| rate_in_words(results.rate(scheme, cores));
        (scheme.name().to_owned(), results.cores.iter().map(rate).collect())
    };
    let mut rows: Vec<_> = results.schemes.iter().map(row).collect();
    let known = results.levels();
    let level = |&cores: &u32| known.iter().find(|level| level.cores == cores);
    if !known.is_empty() {
        let published =
            |cores| level(cores).map_or_else(|| number::NONE.to_owned(), level_in_words);
        let beside = |cores: &u32| {
            let per_s = level(cores).and_then(|level| level.per_s).unwrap_or(f64::NAN);
            number::multiple(results.rate(TreeScheme::Stock, *cores) / per_s)
        };
        rows.push((PUBLISHED_STOCK.to_owned(), results.cores.iter().map(published).collect()));
        rows.push(("stock over published".to_owned(), results.cores.iter().map(beside).collect()));
    }
    let most = results.most_cores();
    let over = |scheme| results.rate(scheme, most) / results.rate(TreeScheme::Stock, most);
    let mut below: Vec<String> = results
        .schemes
        .iter()
        .filter(|&&scheme| scheme != TreeScheme::Stock && over(scheme).is_finite())
        .map(|&scheme| {
            format!(
                "{scheme} on {most} cores: {} stock (simulated)",
                number::multiple(over(scheme))
            )
        })
        .collect();
    if let Some(beside) = results.beside {
        below.push(format!(
            "published, Linux 3.19 on 120 cores of 8 Intel Xeon E7-8870: the best log {} stock",
            number::multiple(published(beside.workload).best_over_stock),
        ));
    }
    Table {
        name: "cores".to_owned(),
        title: format!("{}: operations per second by cores", results.setting.path.operation),
        mark: Some(results.mark()),
        front: "scheme",
        headings: results.cores.iter().map(u32::to_string).collect(),
        rows,
        below,
    }
}

/// An inferred level has a mark.
fn level_in_words(level: &Level) -> String {
    let mark = if level.origin == Origin::Inferred { "~" } else { "" };
    level.per_s.map_or("not known".to_owned(), |per_s| mark.to_owned() + &rate_in_words(per_s))
}

/// What cores wait for, on the most cores.
fn limiters(results: &Results<'_>, scheme: TreeScheme) -> Option<Table> {
    let cores = results.most_cores();
    let point = results.point(scheme, cores)?;
    let row = |limiter: &kilocore_lab::kernel::Limiter| {
        let kind = if limiter.is_lock { "lock" } else { "lines" };
        (limiter.name.clone(), vec![kind.to_owned(), number::percent(limiter.share)])
    };
    Some(Table {
        name: format!("limits-{scheme}"),
        title: format!("What {cores} cores wait for, {scheme}: share of their time"),
        mark: Some(results.mark()),
        front: "variable, or the function that uses it most",
        headings: ["what", "time"].into(),
        rows: point.limiters.iter().map(row).collect(),
        below: vec![format!("Cores sleep for {} of the time.", number::percent(point.idle))],
    })
}

fn trees(results: &Results<'_>) -> Table {
    let cores = results.most_cores();
    let row = |&scheme: &TreeScheme| {
        let figure = |count: fn(&Point) -> u64| {
            let each = |point: &Point| count(point) as f64 / point.operations.max(1) as f64;
            number::figure(results.point(scheme, cores).map_or(f64::NAN, each))
        };
        let figures = vec![
            figure(|point| point.trees.locked),
            figure(|point| point.trees.logged),
            figure(|point| point.trees.cancelled),
            figure(|point| point.trees.applied),
            figure(|point| point.trees.held),
        ];
        (scheme.name().to_owned(), figures)
    };
    Table {
        name: "trees".to_owned(),
        title: format!("Trees of files' mappings, for each operation, on {cores} cores"),
        mark: Some(results.mark()),
        front: "scheme",
        headings: ["locks taken", "insertions logged", "cancelled", "applied", "found held"].into(),
        rows: results.schemes.iter().map(row).collect(),
        below: Vec::new(),
    }
}
