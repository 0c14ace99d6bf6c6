//! An answer, held against what was measured on the cores that are here.
//!
//! What was measured is right. Where more cores bring nothing here, no answer says that the program
//! scales, and where the forecast does not agree with what was measured there is no advice from it.

use kilocore_lock_profile::{Profile, ScalingPoint, ScalingQuality};

use super::answer::{answer, unknown};
use super::did::did;
use super::kernel_locks::{self, InKernel};
use super::limited_here::limited_here;
use super::not_by_locks_here::not_by_locks_here;
use crate::measured_here::{MeasuredHere, Shown};
use crate::surroundings::is_undisturbed;
use crate::words::rounded;
use crate::{Recommendation, Verdict};

/// The answer after it was held against what was measured. `profile` is what was recorded.
pub(crate) fn held_against(
    given: Recommendation,
    here: &MeasuredHere,
    profile: Option<&Profile>,
) -> Recommendation {
    let Some(shown) = here.shown() else { return doubted(given, here) };
    let recorded = profile.and_then(|profile| profile.runs.first());
    let run = recorded.filter(|run| is_undisturbed(run));
    let disturbed = recorded.is_some() && run.is_none();
    let in_kernel = profile.and_then(kernel_locks::large);
    let by_locks = || run.and_then(|run| limited_here(run, here));
    let not_by_locks = || run.and_then(|run| not_by_locks_here(run, here));
    let confidence = given.confidence.clone();
    let of_forecast = matches!(given.verdict, Verdict::LimitedByLocks | Verdict::CoresUnused)
        || matches!(shown, Shown::Gains(_));
    // Something else than its locks holds it back already, so they are not what limits it by a forecast that knows
    // of them alone.
    let overshot = || {
        let is_limited = given.verdict == Verdict::LimitedByLocks;
        here.overshot().filter(|_| is_limited && matches!(shown, Shown::Gains(_)))
    };
    let contradiction = here.contradicts().filter(|_| of_forecast).or_else(overshot);
    let held = match (given.verdict, shown, contradiction) {
        (Verdict::LimitedByKernelLocks, ..) => in_kernel_here(given, in_kernel.as_ref(), shown),
        (_, _, Some((point, forecast))) if limits_here(&given, &point) => {
            worse_than_forecast(given, &point, forecast.speedup)
        }
        (_, _, Some((point, forecast))) => {
            let dearer = point.speedup < forecast.speedup;
            let explained = match in_kernel.filter(|_| dearer) {
                Some(waits) => Some(waits.limits(Some(&did(&point)))),
                None => by_locks().filter(|_| dearer),
            };
            let not = || Some(beside(not_by_locks()?, forecast.speedup));
            explained.or_else(not).unwrap_or_else(|| disagreeing(&point, forecast.speedup))
        }
        (Verdict::LimitedByLocks, ..) | (Verdict::CoresUnused, Shown::Unused(_), None) => given,
        (Verdict::CoresUnused, _, None) => not_by_locks().unwrap_or_else(|| turns(given, shown)),
        (Verdict::Unknown, Shown::Gains(_), None) => {
            let not = || Some(with_gap(not_by_locks()?, &given));
            by_locks().or_else(not).unwrap_or(given)
        }
        (Verdict::NotByLocks, Shown::Gains(_), None) => match here.is_far() {
            // It may scale otherwise as well.
            Some((point, forecast)) => {
                not_by_locks().unwrap_or_else(|| disagreeing(&point, forecast.speedup))
            }
            None => given,
        },
        (_, Shown::Gains(_), None) => given,
        (Verdict::Unknown, Shown::Unused(point), None) if disturbed => unexplained(given, &point),
        (_, Shown::Unused(point), None) => by_locks().unwrap_or_else(|| unused(given, &point)),
        (_, Shown::BusyForNothing(point), None) => {
            let known = by_locks().or_else(not_by_locks);
            known.unwrap_or_else(|| busy_for_nothing(given, &point))
        }
    };
    Recommendation { confidence, ..held }
}

/// The answer, unless the few rounds that there were contradict it. They prove nothing, but it is not said that
/// more cores would be unused where they were used each time.
fn doubted(given: Recommendation, here: &MeasuredHere) -> Recommendation {
    /// A program that does so many times as much on more cores uses them.
    const USED: f64 = 1.4;
    let used = here.points.last().filter(|point| {
        point.cores > 1 && point.speedup_low >= USED && here.quality == ScalingQuality::FewRounds
    });
    match used {
        Some(point) if given.verdict == Verdict::CoresUnused => turns(given, Shown::Gains(*point)),
        _ => given,
    }
}

/// Locks of the kernel limit it. If more cores bring nothing here, that is because of them if they are a
/// large share of the time.
fn in_kernel_here(
    given: Recommendation,
    in_kernel: Option<&InKernel<'_>>,
    shown: Shown,
) -> Recommendation {
    match (shown, in_kernel) {
        (Shown::Unused(point) | Shown::BusyForNothing(point), Some(waits)) => {
            Recommendation { text: given.text, ..waits.limits(Some(&did(&point))) }
        }
        (Shown::Unused(point), None) => unused(given, &point),
        (Shown::BusyForNothing(_), None) | (Shown::Gains(_), _) => given,
    }
}

fn why_busy(point: &ScalingPoint) -> String {
    format!(
        "it keeps {:.1} of them busy all the same: its threads spin, or they compete for memory or for \
         something in the kernel",
        point.busy_cores
    )
}

/// Whether locks limit it by the forecast, and more cores bring nothing here already.
fn limits_here(given: &Recommendation, point: &ScalingPoint) -> bool {
    given.verdict == Verdict::LimitedByLocks && point.speedup < 1.0
}

/// Locks limit it, and more than in the forecast: so the forecast's gains mean nothing.
fn worse_than_forecast(
    given: Recommendation,
    point: &ScalingPoint,
    forecast: f64,
) -> Recommendation {
    let why = format!(
        "{}. The forecast has {} times, so it does not know how dear the lock is here, and there is no \
         advice from it",
        did(point),
        rounded(forecast)
    );
    // What costs most is the first of what is said.
    answer(Verdict::LimitedByLocks, &why, given.text.into_iter().take(1).collect())
}

/// The forecast says something else.
fn disagreeing(point: &ScalingPoint, forecast: f64) -> Recommendation {
    let why = format!(
        "its forecast does not agree with what was measured, so there is no advice from it: {}, and {} \
         times would be expected from the locks that were seen",
        did(point),
        rounded(forecast)
    );
    unknown(vec![why])
}

/// Locks are not the reason here, and of more cores it is unknown for the reason that `given` says.
fn with_gap(mut held: Recommendation, given: &Recommendation) -> Recommendation {
    held.text.extend(given.headline.split_once(": ").map(|(_, why)| format!("Mind that {why}")));
    held
}

/// Locks are not the reason here, and the forecast of its locks has something else.
fn beside(held: Recommendation, forecast: f64) -> Recommendation {
    let mut text = held.text;
    text.push(format!(
        "From the locks that were seen, {} times would be expected, so no forecast says how far it scales.",
        rounded(forecast)
    ));
    Recommendation { text, ..held }
}

/// Threads that take turns would leave cores unused, and the measurement says whether they do.
fn turns(given: Recommendation, shown: Shown) -> Recommendation {
    match shown {
        Shown::Unused(_) => given,
        Shown::Gains(point) | Shown::BusyForNothing(point) => {
            let why =
                format!("its threads waited for one another or for work, but {}", did(&point));
            Recommendation { text: given.text, ..unknown(vec![why]) }
        }
    }
}

fn hardly_used(point: &ScalingPoint) -> String {
    format!("{}, and keeps {:.1} of them busy", did(point), point.busy_cores)
}

/// More cores bring nothing, and are not used.
fn unused(given: Recommendation, point: &ScalingPoint) -> Recommendation {
    let why = hardly_used(point);
    let mut text = given.text;
    if matches!(given.verdict, Verdict::Unknown | Verdict::TooLittleEvidence) {
        text.insert(0, format!("Why is not known. {}", given.headline));
    }
    answer(Verdict::CoresUnused, &why, text)
}

/// More cores bring nothing, and of the run that would show whether that is for locks too much was disturbed.
fn unexplained(mut given: Recommendation, point: &ScalingPoint) -> Recommendation {
    given.text.insert(0, format!("Measured here: {}.", hardly_used(point)));
    given
}

/// More cores bring nothing although they are busy, and locks are not known to be the reason.
fn busy_for_nothing(mut given: Recommendation, point: &ScalingPoint) -> Recommendation {
    if given.verdict == Verdict::NotByLocks {
        return unknown(vec![format!(
            "{}; {}. The locks that were seen do not explain that",
            did(point),
            why_busy(point)
        )]);
    }
    given.text.insert(0, format!("Measured here: {}; {}.", did(point), why_busy(point)));
    given
}

#[cfg(test)]
pub(super) mod tests {
    use kilocore_lock_profile::Interference;

    use super::*;
    use crate::measured_here::tests::scaling;

    pub(in crate::advice) fn here(two: f64, busy: f64) -> MeasuredHere {
        MeasuredHere::of_runs(&scaling(1.0, two, busy))
    }

    pub(in crate::advice) fn of(verdict: Verdict) -> Recommendation {
        let lock = (verdict == Verdict::LimitedByLocks).then_some("mcs");
        let command = lock.map(|_| "kilocore run --lock mcs -- ./program".to_owned());
        let answer = answer(verdict, "forecast to scale to 32 cores; look elsewhere", Vec::new());
        Recommendation { lock, command, ..answer }
    }

    #[test]
    fn nothing_scales_whose_second_core_brings_nothing() {
        for verdict in [Verdict::NotByLocks, Verdict::Unknown, Verdict::TooLittleEvidence] {
            let held = held_against(of(verdict), &here(0.99, 1.0), None);
            assert_eq!(held.verdict, Verdict::CoresUnused, "{held:?}");
            assert!(held.headline.contains("on 2 cores it does 1.01 times"), "{}", held.headline);
            assert!(!held.headline.contains("scale to"), "{}", held.headline);
        }
        let busy = held_against(of(Verdict::NotByLocks), &here(0.95, 1.9), None);
        assert_eq!(busy.verdict, Verdict::Unknown);
        assert!(busy.headline.contains("1.9 of them busy"), "{}", busy.headline);
    }

    #[test]
    fn a_quota_of_one_core_is_not_taken_for_a_second_core_that_brings_nothing() {
        let mut timed = scaling(1.0, 0.99, 1.0);
        assert!(MeasuredHere::of_runs(&timed).shown().is_some(), "it looks like that");
        for run in timed.runs.iter_mut().filter(|run| run.cores == 2) {
            run.limit = Some(kilocore_lock_profile::CpuLimit {
                cores: 1.0,
                periods: 10,
                throttled: 9,
                throttled_time: Some(run.wall_time * 0.9),
                group: None,
            });
        }
        let held_up = MeasuredHere::of_runs(&timed);
        for verdict in [Verdict::NotByLocks, Verdict::Unknown, Verdict::TooLittleEvidence] {
            assert_eq!(held_against(of(verdict), &held_up, None), of(verdict));
        }
    }

    #[test]
    fn a_forecast_that_disagrees_gives_no_advice() {
        let mut here = here(0.5, 2.0);
        here.compare(1.1, (1.1, 1.1), false);
        let held = held_against(of(Verdict::LimitedByLocks), &here, None);
        assert_eq!((held.verdict, held.lock, held.command), (Verdict::Unknown, None, None));
        assert!(held.headline.contains("does not agree"), "{}", held.headline);
        let mut worse = self::here(2.5, 1.9);
        worse.compare(1.5, (1.4, 1.6), false);
        let held = held_against(of(Verdict::LimitedByLocks), &worse, None);
        assert_eq!((held.verdict, held.command), (Verdict::LimitedByLocks, None));
        assert!(held.headline.contains("it does 0.40 times"), "{}", held.headline);
        here.compare(1.9, (1.9, 1.9), false);
        let given = of(Verdict::LimitedByLocks);
        assert_eq!(held_against(given.clone(), &here, None), given);
    }

    /// Three rounds with these times on two cores, of which the last is far off.
    fn with_a_round_far_off(two: f64, last: f64, busy: f64) -> MeasuredHere {
        let mut timed = scaling(1.0, two, busy);
        let far = timed.runs.last_mut().expect("it was timed");
        far.wall_time = kilocore_figures::Nanoseconds(last * 1e9);
        MeasuredHere::of_runs(&timed)
    }

    #[test]
    fn what_gains_less_than_forecast_is_not_limited_by_its_locks_alone() {
        let mut here = with_a_round_far_off(0.7, 0.5, 1.3);
        here.compare(2.0, (1.9, 2.1), false);
        let held = held_against(of(Verdict::LimitedByLocks), &here, None);
        assert_eq!((held.verdict, held.lock), (Verdict::Unknown, None), "{}", held.headline);
        here.compare(1.6, (1.5, 1.7), false);
        let given = of(Verdict::LimitedByLocks);
        assert_eq!(held_against(given.clone(), &here, None), given);
    }

    #[test]
    fn a_forecast_whose_middle_is_far_says_nothing_of_more_cores() {
        let mut far = here(0.55, 1.9);
        far.compare(1.2, (0.9, 2.0), false);
        assert!(far.contradicts().is_none(), "its band is wide enough");
        let held = held_against(of(Verdict::NotByLocks), &far, None);
        assert_eq!(held.verdict, Verdict::Unknown, "{}", held.headline);
        let mut near = here(0.55, 1.9);
        near.compare(1.7, (0.9, 2.0), false);
        let given = of(Verdict::NotByLocks);
        assert_eq!(held_against(given.clone(), &near, None), given);
    }

    #[test]
    fn threads_that_take_turns_do_so_also_where_two_cores_are_slower() {
        let mut here = with_a_round_far_off(1.25, 0.99, 1.0);
        here.compare(1.0, (1.0, 1.0), false);
        let given = of(Verdict::CoresUnused);
        assert_eq!(held_against(given.clone(), &here, None), given);
    }

    #[test]
    fn threads_that_are_said_to_take_turns_do_so_here() {
        let given = of(Verdict::CoresUnused);
        assert_eq!(held_against(given.clone(), &here(1.0, 1.0), None), given);
        assert_eq!(held_against(given, &here(0.55, 1.8), None).verdict, Verdict::Unknown);
    }

    #[test]
    fn one_round_in_which_cores_were_used_does_not_let_them_be_unused() {
        let with_rounds = |rounds: u32| {
            let mut timed = scaling(1.0, 0.5, 1.9);
            timed.runs.retain(|run| run.round < rounds);
            MeasuredHere::of_runs(&timed)
        };
        let one = with_rounds(1);
        assert_eq!(one.quality, ScalingQuality::FewRounds);
        assert_eq!(held_against(of(Verdict::CoresUnused), &one, None).verdict, Verdict::Unknown);
        let given = of(Verdict::LimitedByLocks);
        assert_eq!(held_against(given.clone(), &one, None), given);
    }

    #[test]
    fn locks_of_the_kernel_explain_why_more_cores_bring_nothing() {
        let much = kernel_locks::tests::profile(400);
        let given = kernel_locks::answer_alone(&much).expect("they limit it");
        for here in [here(0.99, 1.0), here(0.95, 1.9)] {
            let held = held_against(given.clone(), &here, Some(&much));
            assert_eq!((held.verdict, &held.command), (given.verdict, &given.command));
            let expected = "Limited by locks of the kernel: on 2 cores it does 1.0";
            assert!(held.headline.starts_with(expected), "{}", held.headline);
            assert!(held.headline.contains("wait 40 % of their time"), "{}", held.headline);
        }
        assert_eq!(held_against(given.clone(), &here(0.55, 1.9), Some(&much)), given);
        let little = kernel_locks::tests::profile(100);
        let given = kernel_locks::answer_alone(&little).expect("they limit it");
        let held = held_against(given, &here(0.99, 1.0), Some(&little));
        assert_eq!(held.verdict, Verdict::CoresUnused, "a tenth of the time does not explain it");
    }

    #[test]
    fn locks_of_the_kernel_explain_what_the_forecast_does_not() {
        let mut here = here(0.8, 1.9);
        here.compare(1.9, (1.9, 1.9), false);
        let held = |thousandths| {
            let profile = kernel_locks::tests::profile(thousandths);
            held_against(of(Verdict::LimitedByLocks), &here, Some(&profile))
        };
        let explained = held(400);
        assert_eq!((explained.verdict, explained.lock), (Verdict::LimitedByKernelLocks, None));
        let unexplained = held(100);
        assert_eq!(unexplained.verdict, Verdict::Unknown, "{unexplained:?}");
    }

    #[test]
    fn nobody_says_that_cores_are_unused_for_no_reason_after_a_disturbed_run() {
        let mut disturbed = kernel_locks::tests::profile(100);
        let run = &mut disturbed.runs[0];
        let others = run.wall_time * 0.8;
        run.interference = Some(Interference { others, stolen: others * 0.0, load: Some(4.0) });
        let held = held_against(of(Verdict::Unknown), &here(1.23, 1.1), Some(&disturbed));
        assert_eq!((held.verdict, held.lock), (Verdict::Unknown, None), "{}", held.headline);
        assert!(held.text[0].contains("keeps 1.1 of them busy"), "{:?}", held.text);
    }

    #[test]
    fn what_was_not_measured_changes_nothing() {
        let untimed = MeasuredHere::of_runs(&kilocore_lock_profile::Scaling::default());
        let given = of(Verdict::NotByLocks);
        assert_eq!(held_against(given.clone(), &untimed, None), given);
    }
}
