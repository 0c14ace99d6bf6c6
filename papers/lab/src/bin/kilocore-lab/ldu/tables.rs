//! The results for people: the paper's figures and its table, the published beside the simulated.

use kilocore_lab::ldu::{BreakEven, Level, Origin, RATIOS, SchemeId, TIMES, published};
use kilocore_show::{Mark, Provenance, Table, number};

use super::document::PUBLISHED_ON;
use super::results::{PUBLISHED_STOCK, Results};

/// All tables that there are figures for.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    // On one number of cores, several shares say the same in a table of their own.
    if results.updates.len() == 1 || results.cores.len() > 1 {
        tables.extend(results.updates.iter().map(|&share| by_cores(results, share)));
    }
    if results.updates.len() > 1 {
        tables.push(by_updates(results));
        tables.extend(break_evens(results));
    }
    tables.push(times(results));
    tables.push(against_stock(results));
    tables
}

fn names(schemes: &[SchemeId]) -> Vec<&'static str> {
    schemes.iter().map(|scheme| scheme.name()).collect()
}

/// Throughput under each scheme, behind a front.
fn rates(results: &Results<'_>, front: String, updates: f64, cores: u32) -> (String, Vec<String>) {
    let rate = |&scheme: &SchemeId| rate_in_words(results.rate(updates, scheme, cores));
    (front, results.schemes.iter().map(rate).collect())
}

/// Without prefixes, which would differ within a column.
fn rate_in_words(rate: f64) -> String {
    if rate >= 1e4 {
        number::count((rate / 10.0).round() as u64 * 10)
    } else {
        number::figure(rate)
    }
}

/// Figures 2.8 to 2.10; with updates only, the published levels below them.
fn by_cores(results: &Results<'_>, updates: f64) -> Table {
    let known = if updates == 100.0 { results.levels() } else { Vec::new() };
    let row = |&scheme: &SchemeId| {
        let rate = |&cores: &u32| rate_in_words(results.rate(updates, scheme, cores));
        (scheme.name().to_owned(), results.cores.iter().map(rate).collect())
    };
    let level = |&cores: &u32| known.iter().find(|level| level.cores == cores);
    let published = |cores| level(cores).map_or_else(|| number::NONE.to_owned(), level_in_words);
    let beside = |cores: &u32| {
        let per_s = level(cores).and_then(|level| level.per_s).unwrap_or(f64::NAN);
        number::multiple(results.rate(updates, SchemeId::Stock, *cores) / per_s)
    };
    let mut rows: Vec<_> = results.schemes.iter().map(row).collect();
    if !known.is_empty() {
        let published = results.cores.iter().map(published).collect();
        rows.push((PUBLISHED_STOCK.to_owned(), published));
        if results.schemes.contains(&SchemeId::Stock) {
            rows.push((
                "stock over published".to_owned(),
                results.cores.iter().map(beside).collect(),
            ));
        }
    }
    Table {
        name: format!("cores-{}", number::plain(updates)),
        title: format!(
            "{}: {} per second by cores, {} % updates",
            results.setting.workload,
            results.setting.workload.unit(),
            number::plain(updates),
        ),
        mark: Some(results.mark()),
        front: "scheme",
        headings: results.cores.iter().map(u32::to_string).collect(),
        rows,
        below: sources(&known),
    }
}

/// An inferred level has a mark.
fn level_in_words(level: &Level) -> String {
    let mark = if level.origin == Origin::Inferred { "~" } else { "" };
    level.per_s.map_or("not known".to_owned(), |per_s| mark.to_owned() + &rate_in_words(per_s))
}

/// Where levels come from, each source once.
fn sources(levels: &[Level]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for source in levels.chunk_by(|a, b| a.from == b.from) {
        let cores: Vec<String> = source.iter().map(|level| level.cores.to_string()).collect();
        let how = match source[0].origin {
            Origin::Published => "published",
            Origin::Inferred => "inferred (~)",
            Origin::NotPublished => "not published",
        };
        let cores = cores.join(", ");
        lines.push(format!("{PUBLISHED_STOCK}, on {cores} cores: {how}; {}", source[0].from));
    }
    lines
}

/// The table beside figure 2.11: throughput by the share of updates.
fn by_updates(results: &Results<'_>) -> Table {
    let most = results.most_cores();
    let row = |&updates: &f64| rates(results, percentage(updates), updates, most);
    Table {
        name: "updates".to_owned(),
        title: format!(
            "{}: {} per second by share of updates, on {most} cores",
            results.setting.workload,
            results.setting.workload.unit(),
        ),
        mark: Some(results.mark()),
        front: "updates",
        headings: names(results.schemes).into_iter().collect(),
        rows: results.updates.iter().map(row).collect(),
        below: Vec::new(),
    }
}

fn percentage(updates: f64) -> String {
    format!("{} %", number::plain(updates))
}

/// Each log against the stock kernel by share of updates, and from where on it is ahead.
fn break_evens(results: &Results<'_>) -> Option<Table> {
    let found = results.break_evens();
    if found.is_empty() {
        return None;
    }
    let of_workload = RATIOS.iter().find(|ratio| ratio.workload == results.setting.workload);
    let figures = of_workload.map(|ratio| ratio.over_stock());
    let published_ratio = |updates: f64| {
        let at = figures.iter().flatten().find(|figure| figure.0 == updates);
        at.map_or(f64::NAN, |figure| figure.1)
    };
    let row = |&updates: &f64| {
        let ratio = |&(scheme, _): &(SchemeId, _)| results.over_stock(updates, scheme);
        let ratios = found.iter().map(ratio).chain([published_ratio(updates)]);
        (percentage(updates), ratios.map(number::multiple).collect())
    };
    let rows: Vec<_> = results.updates.iter().map(row).collect();
    let logs: Vec<SchemeId> = found.iter().map(|&(scheme, _)| scheme).collect();
    let (first, last) = published(results.setting.workload).break_even;
    let published =
        if first == last { format!("at {first} %") } else { format!("at {first} to {last} %") };
    let against = "published: ldu-global on 120 cores against stock without further walks";
    let outcome = |&(scheme, outcome): &(SchemeId, BreakEven)| {
        format!("{scheme}: {} (simulated)", in_words(outcome, results.most_updates()))
    };
    let last = format!("ldu-global: breaks even {published} updates (published)");
    Some(Table {
        name: "break-even".to_owned(),
        mark: None,
        title: format!(
            "Against stock with as many updates, on {} cores (simulated), and figure 2.11 (published)",
            results.most_cores(),
        ),
        front: "updates",
        headings: names(&logs).into_iter().chain(["published"]).collect(),
        rows,
        below: [against.to_owned()]
            .into_iter()
            .chain(found.iter().map(outcome))
            .chain([last])
            .collect(),
    })
}

fn in_words(outcome: BreakEven, most_updates: f64) -> String {
    match outcome {
        BreakEven::Ahead => "ahead at all these shares".to_owned(),
        BreakEven::At(share) => format!("breaks even at {share:.0} % updates"),
        BreakEven::Behind => format!("behind even at {}", percentage(most_updates)),
    }
}

/// The table beside table 2.1: where the cores' time went.
fn times(results: &Results<'_>) -> Table {
    let (cores, updates) = (results.most_cores(), results.most_updates());
    let row = |&scheme: &SchemeId| {
        let point = results.point(updates, scheme, cores);
        let simulated = point.map_or([f64::NAN; 3], |point| [point.user, point.sys, point.idle]);
        let workload = results.setting.workload;
        let line = TIMES.iter().find(|t| t.workload == workload && t.scheme == scheme.name());
        let published = line.map_or([f64::NAN; 3], |times| times.shares());
        let shares = simulated.into_iter().chain(published);
        (scheme.name().to_owned(), shares.map(number::percent).collect())
    };
    Table {
        name: "times".to_owned(),
        mark: None,
        title: format!(
            "Time of {cores} cores, {} updates (simulated), and by table 2.1 of 120 cores (published)",
            percentage(updates),
        ),
        front: "scheme",
        headings: ["user", "sys", "idle", "published user", "sys", "idle"].into(),
        rows: results.schemes.iter().map(row).collect(),
        below: Vec::new(),
    }
}

/// Each scheme's throughput over that of the stock kernel.
fn against_stock(results: &Results<'_>) -> Table {
    let (cores, updates) = (results.most_cores(), results.most_updates());
    let figures = published(results.setting.workload);
    let row = |&scheme: &SchemeId| {
        let ratio = number::multiple(results.over_stock(updates, scheme));
        (scheme.name().to_owned(), vec![ratio])
    };
    let is_there = results.schemes.contains(&SchemeId::Stock);
    let mut text = format!(
        "On {PUBLISHED_ON} (published): the best log {} stock",
        number::multiple(figures.best_over_stock)
    );
    if let Some(ratio) = figures.best_over_unordered_list {
        text += &format!(" and {} the unordered list", number::multiple(ratio));
    }
    text += &format!(";\nstock scales to {} cores", figures.stock_scales_to);
    Table {
        name: "over-stock".to_owned(),
        title: format!(
            "Throughput against stock on {cores} cores, {} updates",
            percentage(updates),
        ),
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "scheme",
        headings: ["× stock"].into(),
        rows: if is_there { results.schemes.iter().map(row).collect() } else { Vec::new() },
        below: vec![text],
    }
}
