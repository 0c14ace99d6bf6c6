//! What waits for locks explain of what more cores do not bring here.
//!
//! How long a short lock is held cannot be told from outside, and of some locks nobody can count how
//! often they are taken. There is no forecast then. But a stopwatch says what the cores that are here
//! bring, and the account of the threads' time says how much of these cores is lost because threads
//! spin, or because threads with work sleep for locks. If that is a large part of it, locks are the reason.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Activities, Run, ScalingPoint};

use crate::words::percent;

/// The share of the cores' power from which on it counts as lost.
const LOST: f64 = 0.2;
/// The share of what is lost from which on waits explain it. Much of the rest goes where nobody looks: a
/// section takes longer where its data come from another core.
const MOST: f64 = 1.0 / 3.0;
/// Waits that are a smaller share of the time of threads that have work explain nothing, whatever the
/// rest does.
const MATTER: f64 = 0.1;

/// The share of the cores' power that is lost at a point, if it is much in every round.
fn lost(point: &ScalingPoint) -> Option<f64> {
    let cores = f64::from(point.cores);
    (1.0 - point.speedup_high / cores >= LOST).then_some(1.0 - point.speedup / cores)
}

/// Whether the cores do much less than in proportion here, in every round.
pub(super) fn falls_short(point: &ScalingPoint) -> bool {
    lost(point).is_some()
}

/// Whether the cores do about as much as in proportion here: in the median, and in every round nearly so.
pub(super) fn grows_in_proportion(point: &ScalingPoint) -> bool {
    /// The share of the cores' power that may be missing in the median.
    const MISSING: f64 = 0.15;
    let missing = |speedup: f64| 1.0 - speedup / f64::from(point.cores);
    missing(point.speedup) <= MISSING && missing(point.speedup_low) < LOST
}

/// How long threads wait for locks, in words, if that explains a large part of what more cores do not bring.
pub(super) fn explained_by_locks(run: &Run, point: &ScalingPoint) -> Option<String> {
    let all = account(run)?;
    let (waits, spun) = (waits(&all), spun(&all));
    match (waits >= MATTER, spun >= MATTER) {
        _ if !waits_could_explain(run, point) => None,
        (true, _) => Some(waiting(waits)),
        (false, true) => Some(format!("threads spin {} of their time on a core", percent(spun))),
        (false, false) => None,
    }
}

/// Whether the cores' time that threads spin, or leave cores unused for what may be locks, is a large part of what
/// more cores do not bring. A runtime parks threads whose tasks wait, and does not say for what.
pub(super) fn waits_could_explain(run: &Run, point: &ScalingPoint) -> bool {
    let Some((lost, all)) = lost(point).zip(account(run)) else { return false };
    let cores = f64::from(point.cores);
    let busy = (point.busy_cores / cores).min(1.0);
    let unused = if sleeps_for_locks(&all) { 1.0 - busy } else { 0.0 };
    busy * spun(&all) + unused >= MOST * lost
}

fn waiting(share: f64) -> String {
    format!("threads that have work wait {} of their time for locks", percent(share))
}

/// The share of their time in which threads that have work wait for locks. Time that nobody knows
/// counts as work.
fn waits(all: &Activities) -> f64 {
    all.locks.saturating_add(all.spinning).share_of(all.with_work())
}

/// The share of the time on a core in which threads spin, where it is known what they do there.
fn spun(all: &Activities) -> f64 {
    all.spinning.share_of(all.computing().saturating_sub(all.undivided))
}

/// How long threads wait for locks, in words, if they spin so much of the cores' time that it needs no stopwatch. On a
/// single core, threads that spin keep the holder of the lock from it, so that what more cores bring says nothing.
pub(super) fn spun_away(run: &Run) -> Option<String> {
    /// The share of the time on a core.
    const MUCH: f64 = 0.25;
    let all = account(run)?;
    (spun(&all) >= MUCH).then(|| waiting(waits(&all)))
}

/// A kind of lock for which threads spin, and the function in which they do so, where most of the spinning is for
/// locks.
pub(super) fn spun_for(run: &Run) -> Option<(&str, &str)> {
    let spins = &run.times.as_ref()?.spins;
    let all: u64 = spins.iter().map(|place| place.samples).sum();
    let known = || spins.iter().filter_map(|place| Some((place, place.lock.as_deref()?)));
    let for_locks: u64 = known().map(|(place, _)| place.samples).sum();
    let (place, lock) = known().max_by_key(|(place, _)| place.samples)?;
    (2 * for_locks > all).then_some((lock, &place.function))
}

/// What all threads did, if enough was seen of it, and spinning was told from computing.
pub(super) fn account(run: &Run) -> Option<Activities> {
    let times = run.times.as_ref().filter(|times| times.is_enough())?;
    times.coverage.ticks_seen.then(|| times.total())
}

/// Whether threads that leave their cores do so for locks rather than for something else. A runtime
/// with threads of its own parks those whose tasks wait for locks.
fn sleeps_for_locks(all: &Activities) -> bool {
    let Activities { locks, idle, unclassified, .. } = *all;
    let Activities { work, barriers, io, kernel_locks, page_faults, other, .. } = *all;
    let for_locks = Nanoseconds::saturating_sum([locks, idle, unclassified]);
    let for_others = [work, barriers, io, kernel_locks, page_faults, other];
    for_locks > Nanoseconds::saturating_sum(for_others)
}

#[cfg(test)]
pub(super) mod tests {
    use kilocore_lock_profile::{RoleTimes, ThreadTimes, TimesCoverage};

    use super::*;
    use crate::measured_here::MeasuredHere;
    use crate::measured_here::tests::scaling;

    fn point(two: f64, busy: f64) -> ScalingPoint {
        MeasuredHere::of_runs(&scaling(1.0, two, busy)).known().expect("it is good")
    }

    /// A run whose threads did so, in thousandths.
    pub(in crate::advice) fn run_of(times: Activities) -> Run {
        let coverage = TimesCoverage { ticks_seen: true, ..TimesCoverage::default() };
        let roles = vec![RoleTimes { times, ..RoleTimes::default() }];
        let observed = Nanoseconds(100_000_000);
        let times = ThreadTimes { observed, roles, coverage, ..ThreadTimes::default() };
        Run { times: Some(times), ..Run::default() }
    }

    pub(in crate::advice) fn spinning(thousandths: u64) -> Activities {
        let user = Nanoseconds(1_000 - thousandths);
        Activities { user, spinning: Nanoseconds(thousandths), ..Activities::default() }
    }

    #[test]
    fn threads_that_spin_explain_cores_that_bring_nothing() {
        let run = run_of(spinning(300));
        let said = explained_by_locks(&run, &point(0.95, 1.9));
        assert_eq!(
            said.as_deref(),
            Some("threads that have work wait 30 % of their time for locks")
        );
        // Threads that wait for input do not make it less.
        let beside = Activities { io: Nanoseconds(9_000), ..spinning(300) };
        let said = explained_by_locks(&run_of(beside), &point(0.95, 1.9));
        assert_eq!(said.as_deref(), Some("threads spin 30 % of their time on a core"));
        // What grows in proportion has lost nothing that could be explained.
        assert_eq!(explained_by_locks(&run, &point(0.52, 1.9)), None);
        // An eighth of the time does not explain that the second core brings nothing.
        assert_eq!(explained_by_locks(&run_of(spinning(120)), &point(0.95, 2.0)), None);
        let mut blind = run;
        blind.times.as_mut().expect("it has some").coverage.ticks_seen = false;
        assert_eq!(explained_by_locks(&blind, &point(0.95, 1.9)), None);
    }

    #[test]
    fn much_spinning_needs_no_stopwatch() {
        assert!(spun_away(&run_of(spinning(300))).is_some_and(|said| said.contains("30 %")));
        assert_eq!(spun_away(&run_of(spinning(200))), None);
        // Who sleeps leaves the core to others.
        let asleep = Activities { locks: Nanoseconds(400), ..spinning(0) };
        assert_eq!(spun_away(&run_of(asleep)), None);
    }

    #[test]
    fn cores_are_unused_for_locks_only_if_threads_sleep_for_locks() {
        let mut times = Activities { locks: Nanoseconds(400), ..spinning(0) };
        assert!(explained_by_locks(&run_of(times), &point(0.95, 1.3)).is_some());
        times.barriers = Nanoseconds(500);
        assert_eq!(explained_by_locks(&run_of(times), &point(0.95, 1.3)), None);
    }

    #[test]
    fn memory_that_is_slow_for_all_is_no_lock() {
        let times = Activities { locks: Nanoseconds(40), ..spinning(20) };
        assert_eq!(explained_by_locks(&run_of(times), &point(0.95, 2.0)), None);
    }
}
