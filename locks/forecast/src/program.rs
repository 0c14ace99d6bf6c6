//! The forecast of a profiled program: all curves, their bands, and the advice.

use kilocore_figures::{Nanoseconds, Provenance};
use std::borrow::Cow;

use kilocore_lock_profile::Profile;
use kilocore_locks::{LockId, RwLockId};
use kilocore_machine::Description;

use crate::advice::{View, advise, held_against};
use crate::affordable::{self, Affordable};
use crate::choice::Choice;
use crate::from_profile::{Profiled, from_profile};
use crate::{
    Curve, Forecast, ForecastPoint, Job, MeasuredHere, Point, PointError, Recommendation, RunSize,
    Target, TriedLock, Workload, curve_on, sweep,
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

/// Forecasts a profiled program. If the profile has no lock or shows too little, that is the answer: nothing
/// is simulated, and there are no curves.
///
/// `progress` is called after each simulation, from any thread.
///
/// # Errors
/// [`PointError`] if the machine does not have the cores.
pub fn forecast(
    profile: &Profile,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, PointError> {
    let view = View::of(profile);
    let recommendation = match view.withheld() {
        Some(withheld) => withheld,
        None => match from_profile(profile) {
            Ok(profiled) => {
                let disturbed = view.disturbed();
                return simulated(profiled, view, disturbed, question, progress);
            }
            Err(_) => view.disturbed().unwrap_or_else(|| view.without_locks()),
        },
    };
    let measured = profile.scaling.as_ref().map(MeasuredHere::of);
    Ok(without_curves(view, recommendation, measured, question))
}

/// Simulates what [`from_profile`] has returned for `profile`, also if the verdict is that it shows too
/// little.
///
/// # Errors
/// [`PointError`] if the machine does not have the cores.
pub fn forecast_profiled(
    profiled: Profiled,
    profile: &Profile,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, PointError> {
    let view = View::of(profile);
    let withheld = view.withheld().or_else(|| view.disturbed());
    simulated(profiled, view, withheld, question, progress)
}

/// The forecast with its curves. Its verdict is `withheld`, if there is one, whatever the curves are.
fn simulated(
    mut profiled: Profiled,
    view: View<'_>,
    withheld: Option<Recommendation>,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Forecast, PointError> {
    if let Some(run) = view.profile.runs.first() {
        own_locks::complete(&mut profiled, run);
    }
    let Profiled { workload, bounds: [well, badly], .. } = &profiled;
    let of_lock = |lock| Candidate {
        lock: TriedLock::Mutex(lock),
        workloads: [workload, well, badly].map(Cow::Borrowed),
    };
    let tried: Vec<Candidate<'_>> = question.all_locks().into_iter().map(of_lock).collect();
    let mut curves = curves_of(&tried, question, progress)?;
    let choice = Choice::for_program(&curves, &profiled);
    let rw_curves = read_write_curves(choice.taken(), &profiled, question, progress)?;
    // Advice is given before the bands are widened by the model's error: how far gains are off is
    // known separately, so that the bands should say here only what the profile leaves open.
    let recommendation = withheld
        .unwrap_or_else(|| advise(&view, &profiled, &choice, &rw_curves, &question.machine.name));
    let measured = held_here(view.profile, &tried[0], choice.today, question, progress)?;
    curves.extend(rw_curves);
    curves.iter_mut().flat_map(|curve| &mut curve.points).for_each(model_error::widen);
    Ok(Forecast {
        profiled_threads: profiled.threads,
        think: profiled.think,
        asleep: profiled.asleep,
        locks: profiled.locks,
        assumptions: profiled.assumptions,
        curves,
        ..without_curves(view, recommendation, measured, question)
    })
}

/// What was measured on the cores that are here, beside the forecast for as many of the machine's: with
/// today's lock, of whose curve some points are known.
fn held_here(
    profile: &Profile,
    today: &Candidate<'_>,
    known: &Curve,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Option<MeasuredHere>, PointError> {
    let Some(scaling) = &profile.scaling else { return Ok(None) };
    let mut here = MeasuredHere::of(scaling);
    let fits = |cores: &u32| *cores <= question.machine.hardware_threads();
    if let Some(cores) = here.known().map(|point| point.cores).filter(fits) {
        let is_known = |cores: &u32| known.points.iter().any(|point| point.point.cores == *cores);
        let missing = [1, cores].into_iter().filter(|cores| !is_known(cores)).collect();
        let asked = Question { cores: missing, ..question.clone() };
        let more = match asked.cores.is_empty() {
            true => Vec::new(),
            false => curves_of(std::slice::from_ref(today), &asked, progress)?,
        };
        let on = |cores| {
            let points = more.iter().chain([known]).flat_map(|curve| &curve.points);
            points.into_iter().find(|point| point.point.cores == cores)
        };
        if let (Some(one), Some(all)) = (on(1), on(cores)) {
            let against = |throughput: f64| throughput / one.point.throughput_per_s;
            let band = (against(all.low), against(all.high));
            here.compare(against(all.point.throughput_per_s), band);
        }
    }
    Ok(Some(here))
}

/// The answer to a profile that is not simulated, held against what was measured.
fn without_curves(
    view: View<'_>,
    recommendation: Recommendation,
    measured: Option<MeasuredHere>,
    question: &Question<'_>,
) -> Forecast {
    let View { profile, evidence, coverage, .. } = view;
    let machine = question.machine;
    let recommendation = match &measured {
        Some(here) => held_against(recommendation, here, profile.runs.first()),
        None => recommendation,
    };
    Forecast {
        provenance: Provenance::Simulated,
        machine: Target {
            name: machine.name.clone(),
            title: machine.title.clone(),
            clock_ghz: machine.clock_ghz.value,
            hardware_threads: machine.hardware_threads(),
        },
        command: profile.command.clone(),
        profiled_threads: 0,
        think: Nanoseconds(0.0),
        asleep: Nanoseconds(0.0),
        locks: Vec::new(),
        assumptions: Vec::new(),
        today: TODAY.name(),
        curves: Vec::new(),
        measured,
        recommendation,
        evidence,
        coverage,
        seed: question.size.seed,
    }
}

/// A lock under which the program is simulated.
struct Candidate<'a> {
    /// The lock, which names the curve.
    lock: TriedLock,
    /// The workload as profiled and the two that bound it.
    workloads: [Cow<'a, Workload>; VARIANTS],
}

/// The curves of locks, in their order.
fn curves_of(
    tried: &[Candidate<'_>],
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Curve>, PointError> {
    let affordable: Vec<(TriedLock, u32, Affordable<'_>)> = question
        .cores
        .iter()
        .flat_map(|&cores| tried.iter().map(move |tried| (tried, cores)))
        .flat_map(|(tried, cores)| {
            let afford = |workload| affordable::affordable(question.size, workload, cores);
            tried.workloads.each_ref().map(|workload| (tried.lock, cores, afford(workload)))
        })
        .collect();
    let jobs: Vec<Job<'_>> = affordable
        .iter()
        .map(|(lock, cores, Affordable { workload, size, .. })| Job {
            workload,
            lock: *lock,
            cores: *cores,
            size: *size,
        })
        .collect();
    let mut points = sweep(&jobs, question.machine, progress)?;
    for (point, (.., affordable)) in points.iter_mut().zip(&affordable) {
        affordable.undo(point);
    }
    let curve = |tried: &Candidate<'_>| {
        let name = tried.lock.name();
        let of_lock = points.chunks(VARIANTS).filter(|three| three[0].lock == name);
        curve_on(question.machine, name, of_lock.map(with_band).collect())
    };
    Ok(tried.iter().map(curve).collect())
}

/// The curves of read-write locks beside the mutex of the curve `under`, if the program's own matter
/// there.
fn read_write_curves(
    under: &Curve,
    profiled: &Profiled,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Curve>, PointError> {
    if !second_choice::matters(under, &profiled.locks) {
        return Ok(Vec::new());
    }
    let known = question.all_locks().into_iter().find(|lock| lock.name() == under.lock);
    let of_lock = |&rw_lock: &RwLockId| Candidate {
        lock: TriedLock::ReadWrite { lock: rw_lock, beside: known.unwrap_or(TODAY) },
        workloads: second_choice::with_rw_lock(profiled, rw_lock).map(Cow::Owned),
    };
    let tried: Vec<Candidate<'_>> = question.rw_locks.iter().map(of_lock).collect();
    curves_of(&tried, question, progress)
}

/// Returns the point of the workload as profiled. Its band covers all three points and their errors
/// by chance.
///
/// A throughput is more than nothing, however little is known of it, so its error is taken as a
/// factor. Small errors come out as they would if they were added and subtracted.
fn with_band(three: &[Point]) -> ForecastPoint {
    let factor = |p: &Point| (p.throughput_error_per_s / p.throughput_per_s).exp();
    let low = three.iter().map(|p| p.throughput_per_s / factor(p));
    let high = three.iter().map(|p| p.throughput_per_s * factor(p));
    ForecastPoint {
        point: three[0].clone(),
        low: low.fold(f64::INFINITY, f64::min),
        high: high.fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::with_band;
    use crate::Point;

    #[test]
    fn a_band_does_not_reach_nothing_however_little_is_known() {
        let of = |rate, error| Point {
            throughput_per_s: rate,
            throughput_error_per_s: error,
            ..Point::empty("futex")
        };
        let known = with_band(&[of(100.0, 1.0), of(90.0, 1.0), of(110.0, 1.0)]);
        assert!((known.low - 89.0).abs() < 0.01 && (known.high - 111.0).abs() < 0.01, "{known:?}");
        let vague = with_band(&[of(100.0, 150.0), of(90.0, 1.0), of(110.0, 1.0)]);
        assert!(vague.low > 0.0 && vague.low < 50.0 && vague.high > 250.0, "{vague:?}");
    }
}
