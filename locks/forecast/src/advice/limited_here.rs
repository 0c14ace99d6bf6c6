//! Answers that need no forecast: locks limit a program on the cores that are here.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Family, Lock, Run, ScalingPoint};

use super::answer::of_here_alone;
use super::did::did;
use super::explained::{explained_by_locks, falls_short, spun_away, spun_for, waits_could_explain};
use super::only_waits;
use super::remedy::{is_replaced, remedy};
use crate::from_profile::wanted_at;
use crate::measured_here::MeasuredHere;
use crate::words::percent;
use crate::{Recommendation, Verdict};

/// The share of the acquisitions of a lock from which on so many wait that it limits a program that does
/// less on more cores.
const MOSTLY_WAITED_FOR: f64 = 0.2;
/// The same share from which on the lock is nearly always taken. A watched lock is held for some microseconds longer
/// than it would be. For so many to wait for that reason alone, threads must want it every microsecond or two.
const NEARLY_ALWAYS_TAKEN: f64 = 0.8;
/// Fewer acquisitions that waited say nothing.
const MANY_WAITS: u64 = 1_000;

/// Nor does a lock matter whose waits are a smaller share of the time of its process, whatever the forecast says.
const MATTERS: f64 = 0.1;

/// A lock that threads wait for most of the time that they want it.
struct WaitedFor<'a> {
    lock: &'a Lock,
    /// The share of its acquisitions that had to wait.
    waits: f64,
    /// The share of the waits in these waits and the processor time of its process.
    share_of_time: f64,
    /// Whether `run` can put another one in its place.
    is_replaced: bool,
}

/// The lock that threads waited for longest, if that was most of the time that they wanted it.
fn waited_for(run: &Run) -> Option<WaitedFor<'_>> {
    let locks = run
        .processes
        .iter()
        .flat_map(|process| process.locks.iter().map(move |lock| (process, lock)));
    let (process, lock) = locks.max_by(|(_, a), (_, b)| a.waited().total_cmp(&b.waited()))?;
    let waits = lock.waits() as f64 / lock.uses().max(1) as f64;
    let all = lock.waited() + process.threads.cpu_time;
    (lock.waits() >= MANY_WAITS && waits >= MOSTLY_WAITED_FOR).then(|| WaitedFor {
        lock,
        waits,
        share_of_time: lock.waited() / all.max(Nanoseconds(1.0)),
        is_replaced: is_replaced(lock, process, run),
    })
}

/// The answer that locks limit it, if waits for them explain what more cores do not bring here. That needs
/// no forecast.
pub(super) fn limited_here(run: &Run, here: &MeasuredHere) -> Option<Recommendation> {
    // Hardware threads of one core do less than two cores, and no lock is the reason.
    let less = || here.known().filter(|point| point.speedup < 1.0);
    let point = here.comparable().or_else(less)?;
    let waited = waited_for(run);
    if let Some(waited) = waited.as_ref().filter(|waited| waited.lock.family == Family::Spin)
        && let Some(share) = spun_away(run)
    {
        let point = Some(&point).filter(|point| falls_short(point));
        return Some(for_one_lock(point, waited, Some(share)));
    }
    let point = Some(point).filter(falls_short)?;
    if let Some(waits) = only_waits::longest(run, point.busy_cores) {
        return waits.limits(&did(&point));
    }
    let explained = explained_by_locks(run, &point);
    let Some(waited) = waited else {
        return Some(for_a_kind(&point, spun_for(run)?, &explained?));
    };
    let agrees = here.forecast.is_some_and(|forecast| forecast.agrees);
    let foretold = agrees && waited.share_of_time >= MATTERS;
    let taken = waited.waits >= NEARLY_ALWAYS_TAKEN && waits_could_explain(run, &point);
    let shown = explained.is_some() || foretold || taken || point.speedup < 1.0;
    shown.then(|| for_one_lock(Some(&point), &waited, explained))
}

/// What is not known where there is no forecast.
const UNKNOWN: &str = "How far it scales on more cores, and what another lock would bring there, is not forecast: what was seen \
                       does not allow it.";

/// More cores bring little, and threads spin for a lock of some kind of which nobody saw which one it is.
fn for_a_kind(
    point: &ScalingPoint,
    (lock, function): (&str, &str),
    how_long: &str,
) -> Recommendation {
    let why = format!("{}, and {how_long}, most for a {lock}, in {function}", did(point));
    let which = "Which lock it is was not seen: measure a longer run.";
    of_here_alone(Verdict::LimitedByLocks, &why, vec![which.to_owned(), UNKNOWN.to_owned()])
}

/// More cores bring little, as `point` says if it shows that, and threads wait for a lock. `how_long` is for how
/// much of their time, where it is known.
fn for_one_lock(
    point: Option<&ScalingPoint>,
    waited: &WaitedFor<'_>,
    how_long: Option<String>,
) -> Recommendation {
    let lock = waited.lock;
    let place = wanted_at(lock);
    let what = lock.what.as_deref().map_or_else(String::new, |what| format!(" ({what})"));
    let said: Vec<String> = point.map(did).into_iter().chain(how_long).collect();
    let why = format!(
        "{}, and {} of the acquisitions of the lock{what} at {place} had to wait",
        said.join(", "),
        percent(waited.waits)
    );
    let mend = match waited.is_replaced {
        true => "`kilocore run --lock NAME` puts another lock there: time the program under some."
            .to_owned(),
        false => remedy(lock, None),
    };
    of_here_alone(Verdict::LimitedByLocks, &why, vec![mend, UNKNOWN.to_owned()])
}

#[cfg(test)]
mod tests {
    use kilocore_lock_profile::{Activities, Interference, SpinPlace};

    use super::super::explained::tests::{run_of, spinning};
    use super::super::held_against::held_against;
    use super::super::held_against::tests::{here, of};
    use super::*;
    use crate::from_profile::synthetic::{mutex, profile_of, run};

    /// A run with a lock that 60 % of the acquisitions had to wait for.
    fn contended() -> Run {
        let mut run = run(vec![mutex(1, "store", 100_000)], 10_000);
        let lock = &mut run.processes[0].locks[0];
        lock.contended = 60_000;
        lock.wait.sum = Nanoseconds(5e8);
        run
    }

    fn held(verdict: Verdict, run: &Run, here: &MeasuredHere) -> Recommendation {
        held_against(of(verdict), here, Some(&profile_of(vec![run.clone()])))
    }

    #[test]
    fn a_lock_that_most_wait_for_is_the_reason_why_two_cores_do_less() {
        let here = here(1.6, 1.9);
        let mut profiled = contended();
        let held = |run: &Run| held(Verdict::Unknown, run, &here);
        let answer = held(&profiled);
        assert_eq!((answer.verdict, &answer.command), (Verdict::LimitedByLocks, &None));
        assert!(
            answer.headline.contains("60 % of the acquisitions of the lock"),
            "{}",
            answer.headline
        );
        let wall = profiled.wall_time + Nanoseconds(1e9);
        profiled.wall_time = wall;
        profiled.interference = Some(Interference { others: wall, ..Interference::default() });
        assert_eq!(
            held(&profiled).verdict,
            Verdict::Unknown,
            "it may have waited for want of a core"
        );
        profiled.interference = None;
        profiled.processes[0].locks[0].contended = 900;
        assert_eq!(held(&profiled).verdict, Verdict::Unknown);
    }

    #[test]
    fn waits_that_explain_what_is_lost_are_the_reason_and_others_are_not() {
        let spinning =
            |thousandths| Run { times: run_of(spinning(thousandths)).times, ..contended() };
        let here = here(0.85, 1.9);
        let answer = held(Verdict::Unknown, &spinning(300), &here);
        assert_eq!((answer.verdict, answer.scaling_known), (Verdict::LimitedByLocks, false));
        let said = "threads that have work wait 30 % of their time for locks, and 60 % of the acquisitions";
        assert!(answer.headline.contains(said), "{}", answer.headline);
        assert_eq!(held(Verdict::Unknown, &spinning(50), &here).verdict, Verdict::Unknown);
        // What the forecast of its locks does not explain, these waits may.
        let mut dearer = here.clone();
        dearer.compare(1.9, (1.9, 1.9), false);
        let explained = held(Verdict::NotByLocks, &spinning(300), &dearer);
        assert_eq!(explained.verdict, Verdict::LimitedByLocks, "{explained:?}");
        let other = held(Verdict::NotByLocks, &spinning(50), &dearer);
        assert_eq!(other.verdict, Verdict::Unknown, "{other:?}");
    }

    #[test]
    fn a_lock_that_is_nearly_always_taken_explains_threads_that_a_runtime_parks() {
        let parked = |waited, idle| {
            let times = Activities { idle: Nanoseconds(idle), ..spinning(30) };
            let mut run = Run { times: run_of(times).times, ..contended() };
            run.processes[0].locks[0].contended = waited;
            held(Verdict::Unknown, &run, &here(0.98, 1.3)).verdict
        };
        assert_eq!(parked(95_000, 400), Verdict::LimitedByLocks);
        assert_eq!(parked(60_000, 400), Verdict::Unknown, "watching may have made it so");
        assert_eq!(parked(95_000, 0), Verdict::Unknown, "cores are unused for something else");
    }

    #[test]
    fn a_kind_of_lock_is_named_where_no_lock_was_seen() {
        let place = |lock: Option<&str>| SpinPlace {
            function: "TrySpin".to_owned(),
            lock: lock.map(str::to_owned),
            samples: 9,
            ..SpinPlace::default()
        };
        let with = |lock| {
            let mut run = run(Vec::new(), 0);
            run.times = run_of(spinning(300)).times;
            run.times.as_mut().expect("it has some").spins = vec![place(lock)];
            held(Verdict::Unknown, &run, &here(0.85, 1.9))
        };
        let answer = with(Some("Java monitor"));
        assert_eq!(answer.verdict, Verdict::LimitedByLocks, "{answer:?}");
        assert!(answer.headline.contains("most for a Java monitor, in TrySpin"), "{answer:?}");
        assert_eq!(with(None).verdict, Verdict::Unknown, "they may have no work");
    }

    #[test]
    fn spinning_on_all_cores_counts_where_one_core_says_nothing() {
        let mut run = contended();
        run.processes[0].locks[0].family = Family::Spin;
        run.times = run_of(spinning(600)).times;
        let answer = held(Verdict::Unknown, &run, &here(0.5, 2.0));
        assert_eq!(answer.verdict, Verdict::LimitedByLocks);
        assert!(!answer.headline.contains("measured here"), "{}", answer.headline);
        run.processes[0].locks[0].family = Family::Mutex;
        assert_eq!(held(Verdict::Unknown, &run, &here(0.5, 2.0)).verdict, Verdict::Unknown);
    }
}
