//! Policies at the delay that the paper takes for an example, beside the best fixed delay.

use kilocore_placement::{Outcome, Rule};
use kilocore_show::{Mark, Provenance, Table, number};

/// What all policies with a delay have.
const DELAY: u32 = 1000;

/// The policies that are held against it, and the table's headings.
const COMPARED: [(Rule, &str); 7] = [
    (Rule::Never, "never"),
    (Rule::Adjustable, "adjustable, 1,000"),
    (Rule::Updates, "updates, 1,000"),
    (Rule::Linux, "linux"),
    (Rule::Carrefour, "carrefour"),
    (Rule::Balanced, "balanced"),
    (Rule::Optimum, "optimum"),
];

/// A row for each program; none if no fixed delay was simulated.
pub(super) fn table(programs: &[(String, Vec<&Outcome>)]) -> Option<Table> {
    let of = |outcomes: &[&Outcome], rule| {
        let at = |outcome: &&&Outcome| {
            outcome.policy == rule && outcome.delay.is_none_or(|delay| delay == DELAY)
        };
        outcomes.iter().find(at).map(|outcome| outcome.namc)
    };
    let is_there = |&(rule, _): &(Rule, &str)| {
        programs.iter().any(|(_, outcomes)| of(outcomes, rule).is_some())
    };
    let compared: Vec<_> = COMPARED.into_iter().filter(is_there).collect();
    let row = |(program, outcomes): &(String, Vec<&Outcome>)| {
        let fixed = outcomes.iter().filter(|outcome| outcome.policy == Rule::Fixed);
        let best = fixed.min_by(|a, b| a.namc.total_cmp(&b.namc))?;
        let delay = number::count(best.delay.unwrap_or_default().into());
        let more = |&(rule, _): &(Rule, &str)| {
            of(outcomes, rule)
                .map_or_else(|| "–".to_owned(), |namc| number::change(namc / best.namc))
        };
        let cells = [format!("{:.3} ({delay})", best.namc)];
        Some((program.clone(), cells.into_iter().chain(compared.iter().map(more)).collect()))
    };
    let rows: Vec<_> = programs.iter().filter_map(row).collect();
    (!rows.is_empty() && !compared.is_empty()).then(|| Table {
        name: "at-1000".to_owned(),
        title: "NAMC against the best fixed delay".to_owned(),
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "program",
        headings: ["best fixed (delay)"].into_iter().chain(compared.iter().map(|c| c.1)).collect(),
        rows,
        below: Vec::new(),
    })
}
