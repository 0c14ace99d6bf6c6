//! The forecast of a profiled program: all curves, their bands, and the advice.

use std::borrow::Cow;

use kilocore_lock_profile::Profile;
use kilocore_locks::{LockId, RwLockId};
use kilocore_machine::Description;
use thiserror::Error;

use crate::advice::{View, advise, advise_without_forecast, best_mutex};
use crate::from_profile::{ProfileGap, Profiled, from_profile};
use crate::{
    Curve, Forecast, ForecastPoint, Job, Point, PointError, RunSize, Target, Workload, curve_on,
    sweep,
};
use crate::{model_error, own_locks, second_choice};

/// The forecast that is wanted.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The machine to forecast for.
    pub machine: &'a Description,
    /// Numbers of cores, ascending, at least one. At each of them, the program is assumed to run
    /// one thread a core.
    pub cores: Vec<u32>,
    /// The locks to compare with the lock that stands for the program as it is.
    pub locks: Vec<LockId>,
    /// The read-write locks to compare with the program's own, if those matter.
    pub rw_locks: Vec<RwLockId>,
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
    /// The number of simulations that the answer takes, which is what a progress bar counts to. Where
    /// read-write locks turn out to matter, there are some more.
    #[must_use]
    pub fn simulations(&self) -> usize {
        self.all_locks().len() * self.cores.len() * VARIANTS
    }

    /// The program's own lock, followed by the other locks asked for.
    fn all_locks(&self) -> Vec<LockId> {
        let others = self.locks.iter().copied().filter(|&lock| lock != TODAY);
        std::iter::once(TODAY).chain(others).collect()
    }
}

/// Three workloads are simulated for each point: the one profiled, and the two that bound it.
const VARIANTS: usize = 3;

/// Forecasts a profiled program.
///
/// `progress` is called after each simulation, from any thread.
///
/// # Errors
/// [`ForecastError`] if the profile holds no locks or the machine does not have the cores.
pub fn forecast(
    profile: &Profile,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, ForecastError> {
    Ok(forecast_profiled(from_profile(profile)?, profile, question, progress)?)
}

/// Does what [`forecast`] does, from what [`from_profile`] has already returned for `profile`.
///
/// # Errors
/// [`PointError`] if the machine does not have the cores.
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
    let of_lock = |&lock: &LockId| Tried {
        name: lock.name(),
        lock,
        workloads: [workload, well, badly].map(Cow::Borrowed),
    };
    let tried: Vec<Tried<'_>> = question.all_locks().iter().map(of_lock).collect();
    let mut curves = curves_of(&tried, question, progress)?;
    let rw_curves = read_write_curves(&curves, &profiled, question, progress)?;
    let machine = question.machine;
    // Advice is given before the bands are widened by the model's error: how far gains are off is
    // known separately, so that the bands should say here only what the profile leaves open.
    let recommendation = advise((&curves, &rw_curves), &profiled, profile, &machine.name);
    curves.extend(rw_curves);
    curves.iter_mut().flat_map(|curve| &mut curve.points).for_each(model_error::widen);
    let View { evidence, coverage, .. } = View::of(profile);
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

/// A lock under which the program is simulated.
struct Tried<'a> {
    /// The name of the curve.
    name: &'static str,
    /// The lock in place of its mutexes.
    lock: LockId,
    /// The workload as profiled and the two that bound it.
    workloads: [Cow<'a, Workload>; VARIANTS],
}

/// The curves of locks, in their order.
fn curves_of(
    tried: &[Tried<'_>],
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Curve>, PointError> {
    let jobs: Vec<Job<'_>> = question
        .cores
        .iter()
        .flat_map(|&cores| tried.iter().map(move |tried| (tried, cores)))
        .flat_map(|(tried, cores)| {
            tried.workloads.each_ref().map(|workload| Job {
                workload,
                lock: tried.lock,
                cores,
                size: affordable(question.size, workload, cores),
            })
        })
        .collect();
    let mut points = sweep(&jobs, question.machine, progress)?;
    let names = tried.iter().flat_map(|tried| [tried.name; VARIANTS]).cycle();
    points.iter_mut().zip(names).for_each(|(point, name)| point.lock = name);
    let curve = |tried: &Tried<'_>| {
        let of_lock = points.chunks(VARIANTS).filter(|three| three[0].lock == tried.name);
        curve_on(question.machine, tried.name, of_lock.map(with_band).collect())
    };
    Ok(tried.iter().map(curve).collect())
}

/// The curves of read-write locks beside the best mutex, if the program's own matter there.
fn read_write_curves(
    curves: &[Curve],
    profiled: &Profiled,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Curve>, PointError> {
    let under = best_mutex(curves, profiled);
    if !second_choice::matters(under, &profiled.locks) {
        return Ok(Vec::new());
    }
    let known = question.all_locks().into_iter().find(|lock| lock.name() == under.lock);
    let of_lock = |&rw_lock: &RwLockId| Tried {
        name: rw_lock.name(),
        lock: known.unwrap_or(TODAY),
        workloads: second_choice::with_rw_lock(profiled, rw_lock).map(Cow::Owned),
    };
    let tried: Vec<Tried<'_>> = question.rw_locks.iter().map(of_lock).collect();
    curves_of(&tried, question, progress)
}

/// The simulated cycles that a point may take. A lock whose waiters poll is simulated poll by poll,
/// so that sections of milliseconds would take minutes.
const MOST_CYCLES: f64 = 1e9;
/// With fewer sections than this, a simulation says nothing.
const FEWEST_SECTIONS: u64 = 400;

/// Returns the size asked for or, where sections last long, one with as many sections as there is
/// time for. With fewer sections the band gets wider, because it includes the error by chance.
fn affordable(size: RunSize, workload: &Workload, cores: u32) -> RunSize {
    let held: f64 = workload.sections.iter().map(|(share, s)| share * s.held()).sum();
    let alone = workload.think.mean() + workload.asleep + held;
    // The lock may be the limit, so that its sections follow one another; or every core has
    // sections of its own at the same time. The slower of the two decides.
    let cycles = held.max(alone / f64::from(cores.max(1))).max(1.0);
    let sections = ((MOST_CYCLES / cycles) as u64).max(FEWEST_SECTIONS).min(size.sections);
    RunSize { sections, ..size }
}

/// Returns the answer to a profile that has no lock or shows too little to be simulated. It has no
/// curves. Returns `None` if a forecast can be made.
#[must_use]
pub fn without_simulation(profile: &Profile, machine: &Description, seed: u64) -> Option<Forecast> {
    let recommendation = advise_without_forecast(profile)?;
    let View { evidence, coverage, .. } = View::of(profile);
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

/// Returns the point of the workload as profiled. Its band covers all three points and their errors
/// by chance.
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
