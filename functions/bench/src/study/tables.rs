//! Results in rows: all benchmarks, the laws, and one benchmark in full.

use kilocore_show::{Mark, Provenance, Table, number};

use crate::document::{Outcome, Point, Summary};
use crate::{Document, Limit, Noise, Usl};

/// Of what the figures are.
pub(super) fn mark(document: &Document) -> Mark {
    let host = &document.environment;
    let on = format!("on {}, {} processors, {}", host.processor, host.cpus, host.kernel);
    Mark::new(Provenance::Measured, &on)
}

/// So few benchmarks are shown in full on a terminal.
const IN_FULL: usize = 3;
/// A load before from which it is said that others were running.
const BUSY: f64 = 0.5;

/// What a terminal shows: of few benchmarks everything.
pub(super) fn on_terminal(document: &Document) -> Vec<Table> {
    let mut tables = vec![overview(document)];
    if document.settings.cores.len() > 1 {
        tables.push(laws(document));
    }
    if document.benchmarks.len() <= IN_FULL {
        tables.extend(document.benchmarks.iter().filter(|o| o.has_run()).map(in_full));
    }
    tables
}

/// The points of a benchmark that were measured.
pub(super) fn measured(outcome: &Outcome) -> impl DoubleEndedIterator<Item = (&Point, Summary)> {
    outcome.points.iter().filter_map(|point| Some((point, point.summary?)))
}

/// A row for each benchmark that ran, and a sentence for each that did not.
pub(super) fn overview(document: &Document) -> Table {
    let cores = &document.settings.cores;
    let (fewest, most) = (cores.first().copied(), cores.last().copied());
    let on = |cores: Option<u32>| cores.map_or_else(String::new, |cores| format!("{cores}"));
    let title =
        format!("Operations per second on {} and on {} cores, medians", on(fewest), on(most));
    let explained =
        "each: the slowest task's rate over the fastest's, on the most cores; noise: half the
\
                     interval of the median, where it is widest; ?: too noisy or too few samples to be sure,\nor other programs had \
                     more of the cores on some numbers of them than on others";
    let below = [explained.to_owned()].into_iter().chain(warnings(document));
    Table {
        name: "overview".to_owned(),
        title,
        mark: Some(mark(document)),
        front: "benchmark",
        headings: ["tasks", "fewest", "most", "speedup", "shape", "each", "noise"].into(),
        rows: document.benchmarks.iter().filter_map(row).collect(),
        below: below.chain(document.benchmarks.iter().flat_map(refusals)).collect(),
    }
}

fn row(outcome: &Outcome) -> Option<(String, Vec<String>)> {
    let (_, first) = measured(outcome).next()?;
    let (_, last) = measured(outcome).next_back()?;
    Some((
        outcome.name.clone(),
        vec![
            outcome.kind.to_string(),
            number::per_second(first.per_s),
            number::per_second(last.per_s),
            number::multiple(last.speedup),
            shape(outcome),
            number::percent(last.slowest_task_per_s / last.fastest_task_per_s),
            noise(outcome),
        ],
    ))
}

/// What the curve looks like, where it falls, and whether to doubt it.
fn shape(outcome: &Outcome) -> String {
    let Some(scaling) = &outcome.scaling else { return number::NONE.to_owned() };
    let falls = scaling.collapse_cores.map(|cores| format!("falls from {cores}"));
    let shape = falls.unwrap_or_else(|| scaling.shape.name().to_owned());
    let doubtful =
        |(_, summary): (&Point, Summary)| matches!(summary.noise, Noise::Unsteady | Noise::TooFew);
    if scaling.disturbed || measured(outcome).any(doubtful) { shape + " ?" } else { shape }
}

/// Half an interval, as a share of the median.
fn half(summary: &Summary) -> f64 {
    (summary.interval.high - summary.interval.low) / 2.0 / summary.per_s
}

/// Of the worst point, in words.
fn noise(outcome: &Outcome) -> String {
    let summaries = || measured(outcome).map(|(_, summary)| summary);
    if summaries().any(|summary| summary.noise == Noise::TooFew) {
        return Noise::TooFew.name().to_owned();
    }
    let worst = summaries().max_by(|a, b| half(a).total_cmp(&half(b)));
    worst.map_or_else(
        || number::NONE.to_owned(),
        |worst| format!("{} {}", worst.noise.name(), number::percent(half(&worst))),
    )
}

/// What makes all figures doubtful.
fn warnings(document: &Document) -> Vec<String> {
    let load = document.environment.load.filter(|load| *load >= BUSY);
    let busy = |load| {
        format!(
            "the load before was {}: other programs were running, for which figures are lower and \
             vary more",
            number::plain(load)
        )
    };
    let most = document.settings.cores.iter().copied().max().unwrap_or(0);
    let limit = document.environment.limit.and_then(|limit| limited(limit, most));
    load.map(busy).into_iter().chain(limit).collect()
}

/// What a control group made of figures on up to so many cores.
fn limited(limit: Limit, most: u32) -> Option<String> {
    let Limit { cores, periods, throttled } = limit;
    if throttled == 0 && cores >= f64::from(most) {
        return None;
    }
    let held_up = match throttled {
        0 => String::new(),
        times => format!(", and held the tasks up in {times} of {periods} periods"),
    };
    Some(format!(
        "the control group allows the time of {cores:.2} cores, where {most} were to be used{held_up}: \
         figures on more cores than that are those of the limit; measure without it"
    ))
}

/// Why it did not run, or not on some numbers of cores.
fn refusals(outcome: &Outcome) -> Vec<String> {
    if let Some(refused) = &outcome.refused {
        return vec![format!("{}: refused: {}", outcome.name, refused.message)];
    }
    let point = |point: &Point| {
        let message = &point.refused.as_ref()?.message;
        Some(format!("{} on {} cores: refused: {message}", outcome.name, point.cores))
    };
    outcome.points.iter().filter_map(point).collect()
}

/// The laws that were fitted to each curve.
pub(super) fn laws(document: &Document) -> Table {
    let row = |outcome: &Outcome| {
        let scaling = outcome.scaling.as_ref()?;
        let usl = scaling.usl.as_ref();
        let of_usl = |of: fn(&Usl) -> f64| usl.map_or(f64::NAN, of);
        let figures = vec![
            number::figure(scaling.gustafson.serial),
            number::percent(scaling.gustafson.error),
            number::figure(of_usl(|law| law.sigma)),
            number::figure(of_usl(|law| law.kappa)),
            number::figure(of_usl(|law| law.peak.unwrap_or(f64::NAN)).round()),
            number::percent(of_usl(|law| law.error)),
            scaling.peak_cores.to_string(),
        ];
        Some((outcome.name.clone(), figures))
    };
    let few = document.settings.cores.len() < 3;
    let explained = "s: Gustafson's serial share; \u{3c3}, \u{3ba}: contention and coherency of \
                     the universal scalability law; error: root\nmean square of a law's relative \
                     errors";
    let little = "two core counts settle \u{3c3} and leave \u{3ba} at 0";
    Table {
        name: "laws".to_owned(),
        title: "Laws fitted to the speedups (of what was measured)".to_owned(),
        mark: None,
        front: "benchmark",
        headings: ["s", "error", "\u{3c3}", "\u{3ba}", "peak by law", "error", "measured peak"]
            .into(),
        rows: document.benchmarks.iter().filter_map(row).collect(),
        below: [Some(explained), few.then_some(little)]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect(),
    }
}

/// One benchmark, a row for each number of cores.
pub(super) fn in_full(outcome: &Outcome) -> Table {
    let row = |(point, summary): (&Point, Summary)| {
        let rate = number::per_second;
        let figures = vec![
            rate(summary.per_s),
            format!("{} to {}", rate(summary.interval.low), rate(summary.interval.high)),
            number::multiple(summary.speedup),
            number::nanoseconds(summary.ns_per_operation),
            number::percent(summary.slowest_task_per_s / summary.fastest_task_per_s),
            number::percent(summary.on_core),
            point.samples.len().to_string(),
        ];
        (point.cores.to_string(), figures)
    };
    let certainty = measured(outcome).map(|(_, summary)| summary.interval.certainty);
    let certainty = certainty.fold(1.0, f64::min);
    let interval = format!(
        "the interval holds the true median with {}; on core: the share of the time that tasks
had \
         their cores",
        number::percent(certainty)
    );
    Table {
        name: format!("{}-{}", outcome.name, outcome.kind),
        mark: None,
        title: format!(
            "{} as {}: {} (measured; one operation: {})",
            outcome.name, outcome.kind, outcome.title, outcome.operation
        ),
        front: "cores",
        headings: ["rate", "interval", "speedup", "operation", "each", "on core", "samples"].into(),
        rows: measured(outcome).map(row).collect(),
        below: [interval].into_iter().chain(outcome.notes.iter().cloned()).collect(),
    }
}
