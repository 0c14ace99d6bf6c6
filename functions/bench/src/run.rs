//! Carries out a plan: all its benchmarks, on all its core counts, with all its repeats.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kilocore_linux::{HeldUp, Throttling};
use thiserror::Error;

use crate::cpus::Cpus;
use crate::document::{
    Document, Generated, MOST_SAMPLES, Outcome, Point, SCHEMA, Settings, VERSION,
};
use crate::environment::Environment;
use crate::keeper::Keeper;
use crate::plan::{Plan, rounds};
use crate::resources::Resources;
use crate::self_execution::Helpers;
use crate::trial::Trial;
use crate::{Benchmark, Kind, Refusal, Shared};

/// Why no part of a plan can be carried out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// It asks for more cores than there are.
    #[error("{asked} cores are asked for, and this process may use {allowed}; choose fewer")]
    Cores {
        /// The highest core count that it asks for.
        asked: u32,
        /// How many processors there are.
        allowed: u32,
    },
    /// It has no core counts, no repeats or no benchmarks.
    #[error("there is nothing to measure: name a benchmark, a number of cores and a repeat")]
    Nothing,
    /// It asks for more samples than a document can hold.
    #[error("{asked} repeats are asked for; choose at most {MOST_SAMPLES}")]
    Repeats {
        /// How many samples it asks for.
        asked: u32,
    },
    /// The process that cleans up does not start.
    #[error("cannot measure: {0}")]
    Keeper(Refusal),
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The benchmark that is being measured.
    pub benchmark: &'static str,
    /// How many samples of all benchmarks were taken or given up so far.
    pub done: u64,
    /// How many samples the plan has.
    pub of: u64,
}

/// Carries out a plan. A benchmark that cannot run stands in the document with the reason.
///
/// The calling thread has to live until this returns, because tasks are killed with the thread that
/// started them.
///
/// # Errors
/// [`PlanError`] if the plan as a whole cannot be carried out.
pub fn run(
    plan: &Plan,
    helpers: &Helpers,
    by: String,
    command: String,
    mut progress: impl FnMut(Progress),
) -> Result<Document, PlanError> {
    let cpus = Cpus::of_this_process();
    let most = plan.cores.iter().copied().max().unwrap_or(0);
    if most == 0 || plan.cores.contains(&0) || plan.repeats == 0 || plan.benchmarks.is_empty() {
        return Err(PlanError::Nothing);
    }
    if plan.repeats > MOST_SAMPLES {
        return Err(PlanError::Repeats { asked: plan.repeats });
    }
    if most > cpus.count() {
        return Err(PlanError::Cores { asked: most, allowed: cpus.count() });
    }
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut environment = Environment::now(&cpus);
    // The tasks are in the control group of this process.
    let held_up = HeldUp::of(std::process::id());
    let keeper = Keeper::start(helpers).map_err(PlanError::Keeper)?;
    let mut runner = Runner { plan, helpers, cpus, keeper, done: 0, begun: Instant::now() };
    let benchmarks = (0..plan.benchmarks.len()).map(|index| runner.benchmark(index, &mut progress));
    let benchmarks = benchmarks.collect();
    if let Some(limit) = &mut environment.limit {
        let Throttling { periods, throttled, .. } = held_up.so_far();
        (limit.periods, limit.throttled) = (periods, throttled);
    }
    Ok(Document {
        schema: SCHEMA.to_owned(),
        version: VERSION,
        provenance: "measured".to_owned(),
        generated: Generated { by, command, begun_unix_s: begun },
        environment,
        settings: settings(plan),
        benchmarks,
    })
}

fn settings(plan: &Plan) -> Settings {
    let mut cores = plan.cores.clone();
    cores.sort_unstable();
    cores.dedup();
    Settings {
        cores,
        pin: plan.pin,
        repeats: plan.repeats,
        seconds: plan.measure.as_secs_f64(),
        warm_up_seconds: plan.warm_up.as_secs_f64(),
        seed: plan.seed,
    }
}

/// Returns the moment at which a benchmark should be done: each has an equal part of the time. What
/// one does not use is left for those after it.
fn share(all: Duration, index: usize, plan: &Plan) -> Duration {
    all.mul_f64((index + 1) as f64 / plan.benchmarks.len() as f64)
}

/// Returns whether one more round ends in time, if it takes as long as those so far.
fn another_fits(rounds: u32, begun: Instant, due: Instant) -> bool {
    rounds == 0 || Instant::now() + begun.elapsed() / rounds <= due
}

struct Runner<'a> {
    plan: &'a Plan,
    helpers: &'a Helpers,
    cpus: Cpus,
    keeper: Keeper,
    /// How many samples were taken or given up.
    done: u64,
    begun: Instant,
}

impl Runner<'_> {
    /// Runs a benchmark on all core counts.
    fn benchmark(&mut self, index: usize, progress: &mut impl FnMut(Progress)) -> Outcome {
        let plan = self.plan;
        let benchmark = plan.benchmarks[index];
        let info = benchmark.info();
        let kind = plan.kind.unwrap_or(info.default);
        let samples = (settings(plan).cores.len() * plan.repeats as usize) as u64;
        let (before, of) = (self.done, samples * plan.benchmarks.len() as u64);
        let mut show = |done| progress(Progress { benchmark: info.name, done, of });
        show(before);
        let outcome = match info.check_kind(kind).and_then(|()| self.prepare(benchmark)) {
            Err(refusal) => Outcome::refused(info, kind, refusal),
            Ok((shared, mut notes)) => {
                let due = plan.budget.map(|all| self.begun + share(all, index, plan));
                let (points, rounds) = self.points(benchmark, kind, &shared, due, &mut show);
                if rounds < plan.repeats {
                    let asked = plan.repeats;
                    notes
                        .push(format!("{rounds} of {asked} rounds, which filled the time for all"));
                }
                Outcome::new(info, kind, notes, points)
            }
        };
        // What the benchmark shared is removed before the next one is prepared. If the keeper has
        // died, this is where it is noticed.
        let _ = self.keeper.clear();
        self.done = before + samples;
        show(self.done);
        outcome
    }

    fn prepare(&mut self, benchmark: &dyn Benchmark) -> Result<(Shared, Vec<String>), Refusal> {
        let most = self.plan.cores.iter().copied().max().unwrap_or(1);
        let mut resources = Resources::new(&mut self.keeper, &self.plan.scratch, most);
        let shared = benchmark.prepare(&mut resources)?;
        Ok((shared, resources.into_notes()))
    }

    /// Takes all samples, or as many rounds of them as there is time for. Returns how many rounds
    /// it took. A core count that was refused once is not tried again.
    fn points(
        &self,
        benchmark: &dyn Benchmark,
        kind: Kind,
        shared: &Shared,
        due: Option<Instant>,
        show: &mut impl FnMut(u64),
    ) -> (Vec<Point>, u32) {
        let plan = self.plan;
        let cores = settings(plan).cores;
        let new = |&cores: &u32| Point { cores, summary: None, refused: None, samples: Vec::new() };
        let mut points: Vec<Point> = cores.iter().map(new).collect();
        let (begun, of_round) = (Instant::now(), cores.len());
        for (turn, cores) in rounds(&cores, plan.repeats, plan.seed).into_iter().enumerate() {
            let rounds = (turn / of_round) as u32;
            if turn % of_round == 0 && due.is_some_and(|due| !another_fits(rounds, begun, due)) {
                return (points, rounds);
            }
            let point = points.iter_mut().find(|point| point.cores == cores);
            let point = point.expect("rounds are made of these counts");
            if point.refused.is_none() {
                match self.trial(benchmark, kind, shared, cores) {
                    Ok(sample) => {
                        point.samples.push(crate::document::Sample { turn: turn as u32, ..sample });
                    }
                    Err(refusal) => point.refused = Some(refusal.into()),
                }
            }
            show(self.done + turn as u64 + 1);
        }
        (points, plan.repeats)
    }

    fn trial(
        &self,
        benchmark: &dyn Benchmark,
        kind: Kind,
        shared: &Shared,
        cores: u32,
    ) -> Result<crate::document::Sample, Refusal> {
        let (helpers, plan) = (self.helpers, self.plan);
        let (warm_up, measure) = (plan.warm_up, plan.measure);
        let cpus = self.cpus.seats(plan.pin, cores);
        let lifeline = self.keeper.lifeline();
        Trial { helpers, benchmark, shared, lifeline, kind, cpus, warm_up, measure }.run()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_taken_if_it_fits_or_is_the_first() {
        let now = Instant::now();
        let Some(begun) = now.checked_sub(Duration::from_secs(20)) else { return };
        assert!(another_fits(0, begun, begun));
        // Two rounds took twenty seconds, so a third takes ten.
        assert!(another_fits(2, begun, now + Duration::from_secs(100)));
        assert!(!another_fits(2, begun, now + Duration::from_secs(5)));
    }
}
