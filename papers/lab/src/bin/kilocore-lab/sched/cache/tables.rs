//! The results for people.

use kilocore_lab::sched::cache::{Judgements, Mix, Point};
use kilocore_show::{Table, number};

use super::results::{Results, counted};

/// All tables.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables: Vec<Table> = results.mixes.iter().map(|mix| of_mix(results, mix)).collect();
    tables.push(means(results));
    tables.extend(results.metrics.map(metrics));
    tables
}

fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// A row for each who schedules.
fn of_mix(results: &Results<'_>, mix: &Mix) -> Table {
    let row = |point: &Point| {
        let best = point.tasks.iter().map(|task| task.beside_fair).fold(f64::INFINITY, f64::min);
        let cells = vec![
            format!("{:.2}", point.throughput),
            change(point.beside_fair),
            format!("{:.3}", point.fairness),
            change(point.worst_beside_fair),
            change(best),
            format!("{:.0} J", point.joules_per_work),
        ];
        (point.policy.to_string(), cells)
    };
    let own = |contender: &_| results.point(mix, *contender).map(row);
    Table {
        title: format!("{}: {} ({})", mix.name, counted(mix), results.mark().plain()),
        front: "policy",
        headings: vec![
            "undisturbed cores",
            "beside fair",
            "fairness",
            "worst task's time",
            "best task's time",
            "a core's second",
        ],
        rows: results.contenders.iter().filter_map(own).collect(),
        below: vec![format!("{}: {}", mix.name, mix.about)],
    }
}

/// Over the mixes of the suite's programs.
fn means(results: &Results<'_>) -> Table {
    let row = |&contender: &_| {
        let gain = results.mean_gain(contender)?;
        Some((contender.to_string(), vec![change(gain)]))
    };
    Table {
        title: format!("All mixes of the NAS-like programs ({})", results.mark().plain()),
        front: "policy",
        headings: vec!["throughput beside fair"],
        rows: results.contenders.iter().filter_map(row).collect(),
        below: vec![
            "published: +11.39 % over the completely fair scheduler, task times at most 21 % shorter, near the optimum"
                .to_owned(),
        ],
    }
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
        title: "What tells how hard a NAS-like program presses (simulated)".to_owned(),
        front: "metric",
        headings: vec![
            "correlation with intensity",
            "with sensitivity",
            "change beside a neighbour",
        ],
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
