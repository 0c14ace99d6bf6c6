//! The results for people: the paper's figures, and what its text says below the simulated ones.

use kilocore_lab::numa::{Load, Mix, claims};
use kilocore_placement::{Account, Rule};
use kilocore_show::{Mark, Provenance, Table, number};

use super::at_one_delay;
use super::results::Results;

/// All tables that there are figures for.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables: Vec<Table> = results.loads.iter().map(|load| by_delay(results, load)).collect();
    tables.extend(beside_the_best(results));
    let of = |load: &Load| {
        let own = results.points.iter().filter(|point| point.program == load.name());
        (load.name().to_owned(), own.map(|point| &point.outcome).collect())
    };
    let programs: Vec<_> = results.loads.iter().map(of).collect();
    tables.extend(at_one_delay::table(&programs));
    tables.push(what_was_done(results));
    tables.push(mixes(results));
    tables
}

fn namc(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "–".to_owned() }
}

/// A row for each delay, a column for each policy that has one. The others stand below.
fn by_delay(results: &Results<'_>, load: &Load) -> Table {
    let (delayed, others): (Vec<Rule>, Vec<Rule>) =
        results.rules.iter().partition(|rule| rule.has_delay());
    let row = |&delay: &u32| {
        let cells = delayed.iter().map(|&rule| namc(results.namc(load, rule, delay)));
        (number::count(delay.into()), cells.collect())
    };
    let first = results.delays[0];
    let without: Vec<String> = others
        .iter()
        .map(|&rule| format!("{rule} {}", namc(results.namc(load, rule, first))))
        .collect();
    let mut below = said(results, load);
    if !without.is_empty() {
        below.insert(0, format!("{} without a delay: {}", load.name(), without.join(", ")));
    }
    let rows =
        if delayed.is_empty() { Vec::new() } else { results.delays.iter().map(row).collect() };
    let headings = delayed.iter().map(|rule| rule.name()).collect();
    Table {
        name: format!("namc-{}", load.name()),
        title: format!("{}: NAMC by initial delay", load.name()),
        mark: Some(results.mark()),
        front: "delay",
        headings,
        rows,
        below,
    }
}

/// What the paper says of a program on its machine.
fn said(results: &Results<'_>, load: &Load) -> Vec<String> {
    let (Load::Program(program, _), None) = (load, results.machine) else { return Vec::new() };
    let claims = claims(*program);
    let ranges = claims.best_fixed.zip(claims.best_adjustable);
    let best = ranges.map(|(fixed, adjustable)| {
        let range = |(from, to): (u32, u32)| {
            format!("{} to {}", number::count(from.into()), number::count(to.into()))
        };
        format!(
            "published: near the optimum with fixed delays of {}, with adjustable ones of {}",
            range(fixed),
            range(adjustable)
        )
    });
    best.into_iter().chain([format!("published: {}", claims.says)]).collect()
}

/// The delays that the paper's bounds are.
const WITHIN: std::ops::RangeInclusive<u32> = 100..=5000;

/// How much worse each policy is than the best fixed delay, and how even.
fn beside_the_best(results: &Results<'_>) -> Option<Table> {
    let others: Vec<Rule> =
        results.rules.iter().copied().filter(|&rule| rule != Rule::Fixed).collect();
    if others.is_empty() || !results.rules.contains(&Rule::Fixed) {
        return None;
    }
    let mut rows = Vec::new();
    for load in results.loads {
        let Some((delay, best)) = results.best_fixed(load) else { continue };
        let fixed_variance = variance(&results.all(load, Rule::Fixed));
        for &rule in &others {
            let within = results.delays.iter().filter(|delay| WITHIN.contains(delay));
            let worst = within
                .map(|&delay| results.namc(load, rule, delay))
                .fold(f64::NEG_INFINITY, f64::max);
            let ratio = fixed_variance / variance(&results.all(load, rule));
            let evener = match rule.has_delay() {
                true => number::multiple(ratio),
                false => "no delay".to_owned(),
            };
            rows.push((
                format!("{}, {rule}", load.name()),
                vec![
                    format!("{} ({})", namc(best), number::count(delay.into())),
                    number::change(worst / best),
                    evener,
                ],
            ));
        }
    }
    Some(Table {
        name: "best".to_owned(),
        title: "Beside the best fixed delay".to_owned(),
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "program, policy",
        headings: [
            "best fixed NAMC (delay)",
            "worst from 100 to 5,000, against it",
            "variance of fixed over all delays, over its own",
        ]
        .into(),
        rows,
        below: Vec::new(),
    })
}

fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count
}

/// What policies did, at the delay nearest to 1,000.
fn what_was_done(results: &Results<'_>) -> Table {
    let nearest = results.delays.iter().copied().min_by_key(|delay| delay.abs_diff(1000));
    let delay = nearest.unwrap_or(1000);
    let mut rows = Vec::new();
    for load in results.loads {
        for &rule in results.rules.iter().filter(|&&rule| rule != Rule::Optimum) {
            let Some(point) = results.point(load, rule, delay) else { continue };
            let counts = point.outcome.counts;
            let remote = counts.remote_reads as f64 / counts.references().max(1) as f64;
            rows.push((
                format!("{}, {rule}", load.name()),
                vec![
                    number::percent(remote),
                    number::count(counts.replications),
                    number::count(counts.drops + counts.invalidations),
                    number::count(counts.migrations),
                    number::count(counts.updates),
                    number::count(counts.messages),
                ],
            ));
        }
    }
    Table {
        name: "done".to_owned(),
        title: format!("What was done, with an initial delay of {}", number::count(delay.into())),
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "program, policy",
        headings: ["remote reads", "copies", "given up", "moves", "updates", "messages"].into(),
        rows,
        below: Vec::new(),
    }
}

fn mix(counts: &Account) -> Mix {
    let share = |count: u64| count as f64 * 100.0 / counts.references().max(1) as f64;
    Mix {
        private_reads: share(counts.private_reads),
        private_writes: share(counts.private_writes),
        shared_reads: share(counts.shared_reads),
        shared_writes: share(counts.shared_writes),
    }
}

/// References by kind, beside the published ones.
fn mixes(results: &Results<'_>) -> Table {
    let cells = |millions: f64, mix: Mix| {
        let kinds = [mix.private_reads, mix.private_writes, mix.shared_reads, mix.shared_writes];
        let kinds = kinds.map(|share| format!("{share:.1} %"));
        [format!("{millions:.1}")].into_iter().chain(kinds).collect()
    };
    let mut rows = Vec::new();
    for load in results.loads {
        let Some(point) = results.points.iter().find(|point| point.program == load.name()) else {
            continue;
        };
        let millions = point.outcome.counts.references() as f64 / 1e6;
        rows.push((
            format!("{}, simulated", load.name()),
            cells(millions, mix(&point.outcome.counts)),
        ));
        if let Load::Program(program, _) = load {
            let claims = claims(*program);
            let row = cells(claims.references_in_millions, claims.mix);
            rows.push((format!("{}, published, 32 processors", load.name()), row));
        }
    }
    Table {
        name: "mix".to_owned(),
        title: "References by kind".to_owned(),
        mark: None,
        front: "program",
        headings: ["millions", "private reads", "private writes", "shared reads", "shared writes"]
            .into(),
        rows,
        below: Vec::new(),
    }
}
