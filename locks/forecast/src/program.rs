//! The forecast of a profiled program: all curves, their bands, and the advice.

use kilocore_figures::{Nanoseconds, Provenance, Shape};
use kilocore_lock_profile::Profile;

use crate::advice::{View, advise, held_against, if_as_many, said_beside, with_next_steps};
use crate::candidate::{Band, Candidate, simulate_all};
use crate::choice::{Choice, end};
use crate::contest::{among_mutexes, among_rw_locks};
use crate::from_profile::{Profiled, from_profile};
use crate::question::{Question, TODAY};
use crate::second_choice::SecondChoice;
use crate::{Forecast, MeasuredHere, PointError, Recommendation, Target, Verdict};
use crate::{as_many_as_threads, model_error, own_locks, what_if};

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
    let measured = MeasuredHere::of(profile);
    let recommendation = held(recommendation, measured.as_ref(), &view);
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
    let (mutexes, mut today) = among_mutexes(&profiled, question, progress)?;
    let choice = Choice::for_program(&mutexes.curves, &profiled, question.machine);
    let gain = mutexes.gain(choice.best.lock, &today);
    let choice = choice.weighed(gain);
    let rw_locks = among_rw_locks(choice.taken(), &profiled, question, progress)?;
    let by_curves = withheld.is_none();
    // Advice is given before the bands are widened by the model's error: how far gains are off is
    // known separately, so that the bands should say here only what the profile leaves open.
    let recommendation = withheld.unwrap_or_else(|| {
        let under = mutexes.candidate(choice.taken().lock).unwrap_or(&today);
        let second = SecondChoice::among(choice.taken(), &rw_locks.curves, &profiled.locks);
        let second = second.map(|second| {
            let gain = rw_locks.gain(second.best.lock, under);
            second.weighed(gain)
        });
        advise(&view, &profiled, &choice, second.as_ref(), question.machine)
    });
    let growing = match recommendation.verdict {
        Verdict::LimitedByLocks if by_curves => {
            as_many_as_threads::simulated(&profiled, question, progress)?
        }
        _ => None,
    };
    let recommendation = match growing {
        Some(growing) => if_as_many(recommendation, choice.today, &growing, &question.machine.name),
        None => recommendation,
    };
    let measured = held_here(view.profile, &profiled, &mut today, question, progress)?;
    let recommendation = held(recommendation, measured.as_ref(), &view);
    let limited = match recommendation.verdict {
        Verdict::LimitedByLocks => true,
        Verdict::NotByLocks => choice.today.shape != Shape::Scales,
        _ => false,
    };
    let agrees = measured.as_ref().is_none_or(|here| here.contradicts().is_none());
    let what_if = match limited && agrees {
        true => what_if::tried(&profiled, (&today, choice.today), question, progress)?,
        false => Vec::new(),
    };
    let [replaced, under] = [choice.today, choice.taken()].map(end);
    let (mut curves, mut without_curve) = mutexes.shown(replaced);
    let (rw_curves, rw_without) = rw_locks.shown(under);
    let today = name_of_today(&profiled);
    if let Some(as_it_is) = curves.iter_mut().find(|curve| curve.lock == TODAY.name()) {
        as_it_is.lock = today;
    }
    curves.extend(rw_curves);
    without_curve.extend(rw_without);
    curves.iter_mut().flat_map(|curve| &mut curve.points).for_each(model_error::widen);
    Ok(Forecast {
        profiled_threads: profiled.threads,
        think: profiled.think,
        asleep: profiled.asleep,
        locks: profiled.locks,
        assumptions: profiled.assumptions,
        today,
        curves,
        without_curve,
        what_if,
        ..without_curves(view, recommendation, measured, question)
    })
}

/// What the program's locks are called in the answer. Spin locks stay what they are, whatever mutex is chosen.
fn name_of_today(profiled: &Profiled) -> &'static str {
    match profiled.locks.iter().all(|lock| lock.family == "spin") {
        true => "spin lock",
        false => TODAY.name(),
    }
}

/// What was measured on the cores that are here, beside the forecast for as many of the machine's with
/// today's lock.
fn held_here(
    profile: &Profile,
    profiled: &Profiled,
    today: &mut Candidate<'_>,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<Option<MeasuredHere>, PointError> {
    let Some(mut here) = MeasuredHere::of(profile) else { return Ok(None) };
    let spins = profiled.locks.first().is_some_and(|lock| lock.family == "spin");
    let sized = profile.scaling.as_ref().is_some_and(|scaling| scaling.sized);
    let one_core_spins = spins && profiled.threads > 1 && !sized;
    let fits = |cores: &u32| *cores <= question.machine.hardware_threads();
    if let Some(cores) = here.comparable().map(|point| point.cores).filter(fits) {
        simulate_all(&mut [today], (&[1, cores], Band::OfProfile), question, progress)?;
        if let (Some(one), Some(all)) = (today.point(1), today.point(cores)) {
            let against = |throughput: f64| throughput / one.point.throughput_per_s;
            let band = (against(all.low), against(all.high));
            here.compare(against(all.point.throughput_per_s), band, one_core_spins);
        }
    }
    Ok(Some(here))
}

/// An answer, held against what was measured if anything was, with what else is to be said first, and the
/// next steps.
fn held(
    recommendation: Recommendation,
    measured: Option<&MeasuredHere>,
    view: &View<'_>,
) -> Recommendation {
    let held = match measured {
        Some(here) => held_against(recommendation, here, Some(view.profile)),
        None => recommendation,
    };
    with_next_steps(said_beside(held, view.profile), view.profile)
}

/// The answer to a profile that is not simulated.
fn without_curves(
    view: View<'_>,
    recommendation: Recommendation,
    measured: Option<MeasuredHere>,
    question: &Question<'_>,
) -> Forecast {
    let View { profile, evidence, coverage, .. } = view;
    let machine = question.machine;
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
        without_curve: Vec::new(),
        what_if: Vec::new(),
        measured,
        tried_here: None,
        emulated: None,
        recommendation,
        evidence,
        coverage,
        seed: question.size.seed,
    }
}
