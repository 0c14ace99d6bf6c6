//! The forecast of a profiled program: all curves, their bands, and the advice.

use kilocore_lock_profile::Profile;
use kilocore_locks::LockId;
use kilocore_machine::Description;
use thiserror::Error;

use crate::advice::{View, advise, advise_without_forecast};
use crate::from_profile::{ProfileGap, Profiled, from_profile};
use crate::{
    Curve, Forecast, ForecastPoint, Job, Point, PointError, RunSize, Target, Workload, curve_on,
    sweep,
};
use crate::{model_error, own_locks};

/// What to forecast.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The machine.
    pub machine: &'a Description,
    /// Numbers of cores, ascending, at least one. The program is taken to run as many threads.
    pub cores: Vec<u32>,
    /// The locks to compare, beside the one that stands for the program as it is.
    pub locks: Vec<LockId>,
    /// How much is simulated for each point.
    pub size: RunSize,
}

/// Why there is no forecast.
#[derive(Debug, Error)]
pub enum ForecastError {
    /// The profile does not say enough.
    #[error(transparent)]
    Profile(#[from] ProfileGap),
    /// A simulation failed.
    #[error(transparent)]
    Point(#[from] PointError),
}

/// The lock that stands for the program as it is: glibc's mutex.
pub const TODAY: LockId = LockId::Futex;

impl Question<'_> {
    /// How many simulations the answer takes: what a progress bar counts to.
    #[must_use]
    pub fn simulations(&self) -> usize {
        self.all_locks().len() * self.cores.len() * VARIANTS
    }

    /// The locks asked for, the program's own first.
    fn all_locks(&self) -> Vec<LockId> {
        let others = self.locks.iter().copied().filter(|&lock| lock != TODAY);
        std::iter::once(TODAY).chain(others).collect()
    }
}

/// The workload as profiled, and the two that bound it.
const VARIANTS: usize = 3;

/// Forecasts a profiled program.
///
/// `progress` is called after each simulation, from any thread.
///
/// # Errors
/// [`ForecastError`] if the profile holds no locks, or the machine not the cores.
pub fn forecast(
    profile: &Profile,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, ForecastError> {
    Ok(forecast_profiled(from_profile(profile)?, profile, question, progress)?)
}

/// As [`forecast`], of what was made of `profile` already.
///
/// # Errors
/// [`PointError`] if the machine has not got the cores.
pub fn forecast_profiled(
    mut profiled: Profiled,
    profile: &Profile,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, PointError> {
    if let Some(run) = profile.runs.first() {
        own_locks::complete(&mut profiled, run);
    }
    let Profiled { workload, bounds: [well, badly], .. } = &profiled;
    let locks = question.all_locks();
    let jobs: Vec<Job<'_>> = question
        .cores
        .iter()
        .flat_map(|&cores| locks.iter().map(move |&lock| (lock, cores)))
        .flat_map(|(lock, cores)| {
            [workload, well, badly].map(|workload| Job {
                workload,
                lock,
                cores,
                size: affordable(question.size, workload, cores),
            })
        })
        .collect();
    let points = sweep(&jobs, question.machine, progress)?;
    let mut curves: Vec<Curve> = locks
        .iter()
        .map(|lock| {
            let of_lock = points.chunks(VARIANTS).filter(|three| three[0].lock == lock.name());
            curve_on(question.machine, lock.name(), of_lock.map(with_band).collect())
        })
        .collect();
    let machine = question.machine;
    // The bands are still those that the profile leaves open: how far gains err is known by itself.
    let recommendation = advise(&curves, &profiled, profile, &machine.name);
    curves.iter_mut().flat_map(|curve| &mut curve.points).for_each(model_error::widen);
    let View { evidence, coverage } = View::of(profile);
    Ok(Forecast {
        provenance: "simulated",
        machine: target(machine),
        command: profile.command.clone(),
        profiled_threads: profiled.threads,
        think_ns: profiled.think_ns,
        asleep_ns: profiled.asleep_ns,
        locks: profiled.locks,
        assumptions: profiled.assumptions,
        today: TODAY.name(),
        curves,
        recommendation,
        evidence,
        coverage,
        seed: question.size.seed,
    })
}

/// Simulated cycles that a point may take: a lock that polls is simulated poll by poll, so that
/// sections of milliseconds would take minutes.
const MOST_CYCLES: f64 = 1e9;
/// The fewest sections that say anything.
const FEWEST_SECTIONS: u64 = 400;

/// The size asked for or, where sections last long, as many of them as there is time for. The
/// band tells that there were fewer: chance is part of it.
fn affordable(size: RunSize, workload: &Workload, cores: u32) -> RunSize {
    let held: f64 = workload.sections.iter().map(|(share, s)| share * s.held()).sum();
    let alone = workload.think.mean() + workload.asleep + held;
    // Either sections follow one another, or every core has its own.
    let cycles = held.max(alone / f64::from(cores.max(1))).max(1.0);
    let sections = ((MOST_CYCLES / cycles) as u64).max(FEWEST_SECTIONS).min(size.sections);
    RunSize { sections, ..size }
}

/// The answer to a profile that shows too little to be simulated, or no lock at all: it has no
/// curves. `None` if a forecast can be made.
#[must_use]
pub fn without_simulation(profile: &Profile, machine: &Description, seed: u64) -> Option<Forecast> {
    let recommendation = advise_without_forecast(profile)?;
    let View { evidence, coverage } = View::of(profile);
    Some(Forecast {
        provenance: "simulated",
        machine: target(machine),
        command: profile.command.clone(),
        profiled_threads: 0,
        think_ns: 0.0,
        asleep_ns: 0.0,
        locks: Vec::new(),
        assumptions: Vec::new(),
        today: TODAY.name(),
        curves: Vec::new(),
        recommendation,
        evidence,
        coverage,
        seed,
    })
}

fn target(machine: &Description) -> Target {
    Target {
        name: machine.name.clone(),
        title: machine.title.clone(),
        clock_ghz: machine.clock_ghz.value,
        hardware_threads: machine.hardware_threads(),
    }
}

/// The point of the workload as profiled, in the band of all three and their chance.
fn with_band(three: &[Point]) -> ForecastPoint {
    let low = three.iter().map(|p| p.throughput_per_s - p.throughput_error_per_s);
    let high = three.iter().map(|p| p.throughput_per_s + p.throughput_error_per_s);
    ForecastPoint {
        point: three[0].clone(),
        low: low.fold(f64::INFINITY, f64::min).max(0.0),
        high: high.fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::{FEWEST_SECTIONS, affordable};
    use crate::{Duration, RunSize, Workload};

    #[test]
    fn long_sections_are_simulated_fewer_times() {
        let sections = |think, hold| {
            let workload =
                Workload::single_lock(Duration::Constant(think), Duration::Constant(hold), 0.0);
            affordable(RunSize { sections: 8_000, ..RunSize::default() }, &workload, 10).sections
        };
        assert_eq!(sections(4_000.0, 400.0), 8_000);
        assert_eq!(sections(4_000.0, 1e6), 1_000);
        assert_eq!(sections(1e8, 1_000.0), FEWEST_SECTIONS);
        assert_eq!(sections(4e6, 1_000.0), 2_499);
    }
}
