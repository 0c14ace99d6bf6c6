//! The results for people.

use kilocore_placement::{Outcome, Rule};
use kilocore_show::{Mark, Table, number};

use super::super::at_one_delay;
use super::results::Results;

/// What could not be seen, and then what was.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let program = results.about.command.join(" ");
    let outcomes = results.outcomes.iter().collect();
    [coverage(results), by_policy(results)]
        .into_iter()
        .chain(at_one_delay::table(&[(program, outcomes)]))
        .collect()
}

fn coverage(results: &Results<'_>) -> Table {
    let mut below =
        vec![format!("Not in these figures: {}.", results.about.not_covered.join("; "))];
    below.push(
        "Each reference goes to memory here. Those that hit a cache do not on a real machine."
            .to_owned(),
    );
    Table { below, ..Table::default() }
}

fn by_policy(results: &Results<'_>) -> Table {
    let options = &results.setting.options;
    let row = |outcome: &Outcome| {
        let counts = &outcome.counts;
        let name = match outcome.delay {
            Some(delay) => format!("{}, delay {}", outcome.policy, number::count(delay.into())),
            None => outcome.policy.to_string(),
        };
        let count = |count: u64| match outcome.policy {
            Rule::Optimum => "–".to_owned(),
            _ => number::count(count),
        };
        let remote = counts.remote_reads as f64 / counts.references().max(1) as f64;
        let remote = if outcome.policy == Rule::Optimum { f64::NAN } else { remote };
        let namc = if outcome.namc.is_finite() {
            format!("{:.3}", outcome.namc)
        } else {
            "–".to_owned()
        };
        let cells = vec![
            namc,
            number::percent(remote),
            count(counts.replications),
            count(counts.drops + counts.invalidations),
            count(counts.migrations),
            count(counts.updates),
        ];
        (name, cells)
    };
    let references = results.outcomes.first().map_or(0, |outcome| outcome.counts.references());
    Table {
        name: "policies".to_owned(),
        title: format!(
            "{}: {} references of {} threads, on {} processors of {} nodes",
            results.about.command.join(" "),
            number::count(references),
            results.threads,
            options.processors(),
            options.nodes,
        ),
        mark: Some(Mark::simulated(results.machine_name(), options.seed)),
        front: "policy",
        headings: ["NAMC", "remote reads", "copies", "given up", "moves", "updates"].into(),
        rows: results.outcomes.iter().map(row).collect(),
        below: Vec::new(),
    }
}
