//! A replay as it is shown.

use kilocore_pages::Policy;
use kilocore_show::{
    About, Generated, Host, Lines, Mark, Parameter, Points, Provenance, Study, Table, Unit, number,
};
use serde::Serialize;

use super::{Measured, Program, Replay, ReplayError};
use crate::{Latency, Trace};

/// What was measured of each policy.
#[derive(Debug)]
pub struct Results<'a> {
    /// The name of the trace's file.
    name: &'a str,
    /// The program that was recorded.
    command: &'a [String],
    processors: usize,
    program: Program,
    rounds: u32,
    points: Vec<Point>,
    generated: Generated,
}

/// What was measured of a policy.
#[derive(Debug, Serialize)]
struct Point {
    policy: &'static str,
    initialization: Latency,
    /// The mean of each round.
    initialization_means_cycles: Vec<f64>,
    /// The median of the ratios of these to those of Linux 4.18 in the same rounds, if it was measured.
    over_baseline: Option<f64>,
    allocation_cycles: f64,
    release_cycles: f64,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    provenance: Provenance,
    trace: &'a str,
    command: &'a [String],
    processors: usize,
    other_pages: f64,
    used_before_release: f64,
    points: &'a [Point],
}

impl<'a> Results<'a> {
    /// Replays a trace, from the file of this name, so many times under each policy. The policies
    /// take turns, so that a host that slows down slows all of them. `on_done` is called after each replay.
    ///
    /// # Errors
    /// [`ReplayError`] if a pool cannot be made or a thread not be pinned.
    pub fn measure(
        (name, trace): (&'a str, &'a Trace),
        program: Program,
        policies: &[Policy],
        rounds: u32,
        generated: Generated,
        on_done: impl Fn(),
    ) -> Result<Self, ReplayError> {
        let replay = Replay::new(trace, program)?;
        let mut measured = vec![Measured::default(); policies.len()];
        let mut means = vec![Vec::new(); policies.len()];
        for _ in 0..rounds {
            for (at, &policy) in policies.iter().enumerate() {
                let run = replay.run(policy)?;
                means[at].push(run.latency().mean);
                measured[at].add(run);
                on_done();
            }
        }
        let baseline = policies.iter().position(|policy| *policy == Policy::Linux4_18);
        let over_baseline = |means_of: &[f64]| {
            let ratios = means_of.iter().zip(&means[baseline?]).map(|(own, base)| own / base);
            kilocore_figures::median(ratios)
        };
        let point = |(at, policy): (usize, &Policy)| Point {
            policy: policy.name(),
            initialization: measured[at].latency(),
            over_baseline: over_baseline(&means[at]),
            initialization_means_cycles: means[at].clone(),
            allocation_cycles: measured[at].mean_allocation(),
            release_cycles: measured[at].mean_release(),
        };
        Ok(Self {
            name,
            command: &trace.header.about.command,
            processors: replay.processors(),
            program,
            rounds,
            points: policies.iter().enumerate().map(point).collect(),
            generated,
        })
    }
}

impl Study for Results<'_> {
    fn about(&self) -> About {
        let Program { other_pages, used_before_release } = self.program;
        let of_program = "what the trace does not say";
        About {
            generated: self.generated.clone(),
            kind: "A page pool, measured",
            title: format!("Page pools under {}", self.name),
            host: Host::named("this host", format!("{} processors", self.processors)),
            parameters: vec![
                Parameter::new(
                    "other memory that the program goes through for each page",
                    format!("{other_pages} pages"),
                    of_program,
                ),
                Parameter::new(
                    "released pages that the program has used right before",
                    format!("{:.0} %", used_before_release * 100.0),
                    of_program,
                ),
            ],
        }
    }

    fn document(&self) -> impl Serialize {
        Document {
            provenance: Provenance::Measured,
            trace: self.name,
            command: self.command,
            processors: self.processors,
            other_pages: self.program.other_pages,
            used_before_release: self.program.used_before_release,
            points: &self.points,
        }
    }

    /// A row for each round of each policy.
    fn points(&self) -> Points {
        let rounds = self.points.iter().flat_map(|point| {
            point.initialization_means_cycles.iter().enumerate().map(move |mean| (point, mean))
        });
        Points::of(Provenance::Measured, rounds)
            .same("trace", Unit::Name, self.name)
            .same("processors", Unit::Count, self.processors)
            .each("policy", Unit::Name, |(point, _)| point.policy)
            .each("round", Unit::Count, |(_, (round, _))| *round)
            .each("initialization_mean_cycles", Unit::Cycles, |(_, (_, mean))| **mean)
            .build()
    }

    fn charts(&self) -> Vec<Lines> {
        Vec::new()
    }

    fn tables(&self) -> Vec<Table> {
        let row = |point: &Point| {
            let latency = &point.initialization;
            let cycles = |mean: f64| number::count(mean.round() as u64);
            let over =
                point.over_baseline.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"));
            let mut cells = vec![cycles(latency.mean), over];
            cells.extend(latency.percentiles());
            cells.extend([cycles(point.allocation_cycles), cycles(point.release_cycles)]);
            (point.policy.to_owned(), cells)
        };
        let measured = format!("here, {} rounds", self.rounds);
        vec![Table {
            name: "replayed".to_owned(),
            title: format!(
                "{}: cycles to initialize a page, {} processors",
                self.name, self.processors
            ),
            mark: Some(Mark::new(Provenance::Measured, &measured)),
            front: "policy",
            headings: ["mean", "× 4.18", "10 %", "50 %", "90 %", "99 %", "allocate", "release"]
                .into(),
            rows: self.points.iter().map(row).collect(),
            below: vec![
                "× 4.18: median of the ratios of the means within a round; allocate, release: mean \
                 cycles"
                    .to_owned(),
            ],
        }]
    }
}
