//! Results as files: a page, a chart, rows, everything.

use kilocore_kernel_bench::document::{Outcome, Sample};
use kilocore_kernel_bench::{Document, benchmarks};
use kilocore_show::{
    Across, Generated, Host, Line, Lines, LinesReport, Mark, Provenance, Report, ReportError,
    in_csv, in_json,
};
use serde::Serialize;

use super::overview;

/// So many points a law is drawn with for each core.
const STEPS: u32 = 4;
/// So many it is drawn with at most.
const MOST_STEPS: u32 = 512;

/// What was measured, for files.
pub(crate) struct Results<'a>(pub(crate) &'a Document);

impl Report for Results<'_> {
    fn html(&self) -> Result<String, ReportError> {
        page(self.0).html()
    }

    fn svg(&self) -> Result<String, ReportError> {
        speedups(self.0).svg()
    }

    fn csv(&self) -> Result<String, ReportError> {
        in_csv(rows(self.0))
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(self.0)
    }
}

/// Everything on one page.
fn page(document: &Document) -> LinesReport {
    let environment = &document.environment;
    let mut charts = Vec::new();
    if document.benchmarks.iter().any(Outcome::has_run) {
        charts.push(speedups(document));
    }
    charts.extend(document.benchmarks.iter().filter_map(|outcome| alone(document, outcome)));
    let ran = || document.benchmarks.iter().filter(|outcome| outcome.has_run());
    let tables = [overview::overview(document), overview::laws(document)];
    LinesReport {
        generated: Generated {
            by: document.generated.by.clone(),
            command: document.generated.command.clone(),
            at: None,
        },
        kind: "System interfaces, measured",
        title: "Which system interfaces scale with cores".to_owned(),
        host: Host::Real {
            name: environment.processor.clone(),
            title: format!("{} processors, {}", environment.cpus, environment.kernel),
            facts: environment.in_rows(),
        },
        charts,
        tables: tables.into_iter().chain(ran().map(overview::in_full)).collect(),
        parameters: Vec::new(),
    }
}

/// The name of a benchmark that this program has.
fn name(outcome: &Outcome) -> &'static str {
    benchmarks::find(&outcome.name).map_or("unknown", |benchmark| benchmark.info().name)
}

fn points(outcome: &Outcome) -> Vec<(f64, f64)> {
    overview::measured(outcome).map(|(point, at)| (f64::from(point.cores), at.speedup)).collect()
}

/// The speedups of all benchmarks, and what linear scaling would be.
fn speedups(document: &Document) -> Lines {
    let ran = document.benchmarks.iter().filter(|outcome| outcome.has_run());
    Lines {
        title: "Speedup by cores".to_owned(),
        mark: overview::mark(document),
        across: Across::Cores,
        up: "times the rate of one core".to_owned(),
        by: "benchmark",
        linear: Some(1.0),
        small: false,
        lines: ran.map(|outcome| Line::new(name(outcome), points(outcome))).collect(),
    }
}

/// One benchmark's speedup with its interval, where it falls, and the laws; nothing if it ran on
/// one number of cores.
fn alone(document: &Document, outcome: &Outcome) -> Option<Lines> {
    let scaling = outcome.scaling.as_ref()?;
    let mut line = Line::new("measured", points(outcome));
    let band = |at: &kilocore_kernel_bench::document::Summary| {
        let unit = at.speedup / at.per_s;
        (at.interval.low * unit, at.interval.high * unit)
    };
    line.band = overview::measured(outcome).map(|(_, at)| band(&at)).collect();
    line.ring = scaling.collapse_cores.and_then(|cores| {
        let at = line.points.iter().find(|point| point.0 == f64::from(cores))?;
        Some((at.0, at.1, format!("{} falls from {cores} cores", outcome.name)))
    });
    let &(most, _) = line.points.last()?;
    let alone = line.points.first().zip(overview::measured(outcome).next());
    let alone = alone.map(|(point, (_, at))| at.per_s / point.1)?;
    let steps = ((most as u32 - 1) * STEPS).min(MOST_STEPS);
    let across = || (0..=steps).map(|step| 1.0 + (most - 1.0) * f64::from(step) / f64::from(steps));
    let law = |of: &dyn Fn(f64) -> f64| across().map(|cores| (cores, of(cores))).collect();
    let serial = scaling.gustafson.serial;
    let mut lines =
        vec![line, Line::smooth("Gustafson", law(&|cores| cores - serial * (cores - 1.0)))];
    if let Some(usl) = scaling.usl {
        lines.push(Line::smooth("USL", law(&|cores| usl.at(cores) / alone)));
    }
    Some(Lines {
        title: outcome.name.clone(),
        mark: Mark::new(Provenance::Measured, &format!("as {}; laws fitted", outcome.kind)),
        across: Across::Cores,
        up: "speedup".to_owned(),
        by: "measurement and law",
        linear: Some(1.0),
        small: true,
        lines,
    })
    .filter(|_| document.settings.cores.len() > 1)
}

/// A sample in a row. Names of columns that are figures end in the unit.
#[derive(Serialize)]
struct Row<'a> {
    provenance: &'a str,
    benchmark: &'a str,
    tasks: &'static str,
    cores: u32,
    turn: u32,
    rate_per_s: f64,
    slowest_task_per_s: f64,
    fastest_task_per_s: f64,
    seconds: f64,
    operations: u64,
    slowest_batch_ns: f64,
    fastest_batch_ns: f64,
    preemptions: u64,
    on_core_share: f64,
}

fn rows(document: &Document) -> impl Iterator<Item = Row<'_>> {
    document.benchmarks.iter().flat_map(move |outcome| {
        outcome.points.iter().flat_map(move |point| {
            let row = move |sample| in_row(document, outcome, point.cores, sample);
            point.samples.iter().map(row)
        })
    })
}

fn in_row<'a>(
    document: &'a Document,
    outcome: &'a Outcome,
    cores: u32,
    sample: &Sample,
) -> Row<'a> {
    let Sample { turn, per_s, slowest_task_per_s, fastest_task_per_s, seconds, .. } = *sample;
    let Sample { operations, slowest_batch_ns, fastest_batch_ns, preemptions, on_core, .. } =
        *sample;
    Row {
        provenance: &document.provenance,
        benchmark: &outcome.name,
        tasks: outcome.kind.name(),
        cores,
        turn,
        rate_per_s: per_s,
        slowest_task_per_s,
        fastest_task_per_s,
        seconds,
        operations,
        slowest_batch_ns,
        fastest_batch_ns,
        preemptions,
        on_core_share: on_core,
    }
}
