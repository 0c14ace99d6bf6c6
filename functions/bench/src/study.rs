//! Saved runs as they are shown: a page, charts, rows, tables.

mod compared;
mod tables;

use kilocore_show::{
    About, Across, Generated, Host, Line, Lines, Mark, Points, Provenance, Study, Table, Unit,
};
use serde::Serialize;

use crate::document::{Outcome, Sample, Summary};
use crate::{Document, benchmarks};

/// So many points a law is drawn with for each core.
const STEPS: u32 = 4;
/// So many it is drawn with at most.
const MOST_STEPS: u32 = 512;

impl Study for Document {
    fn about(&self) -> About {
        let environment = &self.environment;
        About {
            generated: Generated {
                by: self.generated.by.clone(),
                command: self.generated.command.clone(),
                at: None,
            },
            kind: "System interfaces, measured",
            title: "Which system interfaces scale with cores".to_owned(),
            host: Host::Real {
                name: environment.processor.clone(),
                title: format!("{} processors, {}", environment.cpus, environment.kernel),
                facts: environment.in_rows(),
            },
            parameters: Vec::new(),
        }
    }

    fn document(&self) -> impl Serialize {
        self
    }

    /// A row for each sample. Names of columns that are figures end in the unit.
    fn points(&self) -> Points {
        let points = self
            .benchmarks
            .iter()
            .flat_map(|outcome| outcome.points.iter().map(move |point| (outcome, point)));
        let samples = points.flat_map(|(outcome, point)| {
            point.samples.iter().map(move |sample| (outcome, point.cores, sample))
        });
        type Row<'a> = (&'a Outcome, u32, &'a Sample);
        Points::of(Provenance::Measured, samples)
            .each("benchmark", Unit::Name, |(outcome, ..): &Row<'_>| &*outcome.name)
            .each("tasks", Unit::Name, |(outcome, ..)| outcome.kind.name())
            .each("cores", Unit::Count, |(_, cores, _)| *cores)
            .each("turn", Unit::Count, |(.., sample)| sample.turn)
            .each("rate_per_s", Unit::PerSecond, |(.., sample)| sample.per_s)
            .each("slowest_task_per_s", Unit::PerSecond, |(.., sample)| sample.slowest_task_per_s)
            .each("fastest_task_per_s", Unit::PerSecond, |(.., sample)| sample.fastest_task_per_s)
            .each("seconds", Unit::Seconds, |(.., sample)| sample.seconds)
            .each("operations", Unit::Count, |(.., sample)| sample.operations)
            .each("slowest_batch_ns", Unit::Nanoseconds, |(.., sample)| sample.slowest_batch.0)
            .each("fastest_batch_ns", Unit::Nanoseconds, |(.., sample)| sample.fastest_batch.0)
            .each("preemptions", Unit::Count, |(.., sample)| sample.preemptions)
            .each("on_core_share", Unit::Share, |(.., sample)| sample.on_core)
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        let all = self.benchmarks.iter().any(Outcome::has_run).then(|| speedups(self));
        let each = self.benchmarks.iter().filter_map(|outcome| alone(self, outcome));
        all.into_iter().chain(each).collect()
    }

    fn tables(&self) -> Vec<Table> {
        let ran = self.benchmarks.iter().filter(|outcome| outcome.has_run());
        let all = [tables::overview(self), tables::laws(self)];
        all.into_iter().chain(ran.map(tables::in_full)).collect()
    }

    fn terminal_tables(&self) -> Vec<Table> {
        tables::on_terminal(self)
    }
}

/// The name of a benchmark that this program has.
fn name(outcome: &Outcome) -> &'static str {
    benchmarks::find(&outcome.name).map_or("unknown", |benchmark| benchmark.info().name)
}

fn points(outcome: &Outcome) -> Vec<(f64, f64)> {
    tables::measured(outcome).map(|(point, at)| (f64::from(point.cores), at.speedup)).collect()
}

/// The speedups of all benchmarks, and what linear scaling would be.
fn speedups(document: &Document) -> Lines {
    let ran = document.benchmarks.iter().filter(|outcome| outcome.has_run());
    Lines {
        title: "Speedup by cores".to_owned(),
        mark: tables::mark(document),
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
    let band = |at: &Summary| {
        let unit = at.speedup / at.per_s;
        (at.interval.low * unit, at.interval.high * unit)
    };
    line.band = tables::measured(outcome).map(|(_, at)| band(&at)).collect();
    line.ring = scaling.collapse_cores.and_then(|cores| {
        let at = line.points.iter().find(|point| point.0 == f64::from(cores))?;
        Some((at.0, at.1, format!("{} falls from {cores} cores", outcome.name)))
    });
    let &(most, _) = line.points.last()?;
    let alone = line.points.first().zip(tables::measured(outcome).next());
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
