//! The results for people.

use kilocore_lab::sched::cache::{Contender, Judgements, Mix, Point};
use kilocore_show::{Mark, Provenance, Table, number};

use super::results::{Results, counted};

/// All tables of the experiment: one for each mix, and those that compare mixes.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables: Vec<Table> = results.mixes.iter().map(|mix| of_mix(results, mix)).collect();
    if others(results).next().is_some() {
        tables.push(throughputs(results));
        let worst = "More time for the task that fares worst, beside fair sharing";
        tables.push(by_mix(results, "worst", worst, |point| point.worst_beside_fair));
    }
    tables.extend(results.metrics.map(metrics));
    tables
}

/// A row for each who schedules.
fn of_mix(results: &Results<'_>, mix: &Mix) -> Table {
    let row = |point: &Point| {
        let best = point.tasks.iter().map(|task| task.beside_fair).fold(f64::INFINITY, f64::min);
        let cells = vec![
            format!("{:.2}", point.throughput),
            number::change(point.beside_fair),
            format!("{:.3}", point.fairness),
            number::change(point.worst_beside_fair),
            number::change(best),
            format!("{:.0} J", point.joules_per_work),
        ];
        (point.policy.to_string(), cells)
    };
    let own = |contender: &_| results.point(mix, *contender).map(row);
    Table {
        name: mix.name.to_owned(),
        title: format!("{}: {}", mix.name, counted(mix)),
        mark: Some(results.mark()),
        front: "policy",
        headings: [
            "undisturbed cores",
            "beside fair",
            "fairness",
            "worst task's time",
            "best task's time",
            "a core's second",
        ]
        .into(),
        rows: results.contenders.iter().filter_map(own).collect(),
        below: vec![format!("{}: {}", mix.name, mix.about)],
    }
}

/// Who is held against fair sharing.
fn others<'a>(results: &Results<'a>) -> impl Iterator<Item = &'a Contender> {
    results.contenders.iter().filter(|&&other| other != Contender::FAIR)
}

/// A row for each mix, a column for each who schedules but fair sharing.
fn by_mix(results: &Results<'_>, name: &str, title: &str, figure: fn(&Point) -> f64) -> Table {
    let others = || others(results);
    let row = |mix: &Mix| {
        let cell =
            |&other: &Contender| number::change(results.point(mix, other).map_or(f64::NAN, figure));
        (mix.name.to_owned(), others().map(cell).collect())
    };
    Table {
        name: name.to_owned(),
        title: title.to_owned(),
        mark: Some(results.mark()),
        front: "mix",
        headings: others().map(|other| other.name()).collect(),
        rows: results.mixes.iter().map(row).collect(),
        below: Vec::new(),
    }
}

/// Throughput, mix by mix, and in the mean over those of the suite's programs.
fn throughputs(results: &Results<'_>) -> Table {
    let title = "Throughput beside fair sharing";
    let mut table = by_mix(results, "mixes", title, |point| point.beside_fair);
    let means =
        others(results).map(|&other| number::change(results.mean_gain(other).unwrap_or(f64::NAN)));
    table.rows.push(("mean of the NAS-like programs".to_owned(), means.collect()));
    table.below.push(
        "published: +11.39 % over the completely fair scheduler, task times at most 21 % shorter, near the optimum"
            .to_owned(),
    );
    table
}

/// Which counts tell how hard a program presses.
fn metrics(judged: &Judgements) -> Table {
    let row = |metric: &kilocore_lab::sched::cache::Judgement| {
        let cells = vec![
            format!("{:.2}", metric.with_intensity),
            format!("{:.2}", metric.with_sensitivity),
            number::percent(metric.instability),
        ];
        (metric.metric.to_owned(), cells)
    };
    Table {
        name: "metrics".to_owned(),
        title: "What tells how hard a NAS-like program presses".to_owned(),
        mark: Some(Mark::new(Provenance::Simulated, "")),
        front: "metric",
        headings: ["correlation with intensity", "with sensitivity", "change beside a neighbour"]
            .into(),
        rows: judged.metrics.iter().map(row).collect(),
        below: vec![
            format!(
                "intensity and sensitivity: correlation {:.2}; published: strong",
                judged.intensity_with_sensitivity
            ),
            "published: references per instruction are the best of five metrics".to_owned(),
        ],
    }
}
