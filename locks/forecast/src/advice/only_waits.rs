//! Locks of which only the waits are known.
//!
//! Some libraries let each thread sleep on a word of its own, whatever it waits for. Nobody from
//! outside can count how often such a lock is taken, or time how long it is held. Such locks are
//! no part of a forecast. If they are what threads wait for most, there is no forecast at all, but
//! it can be said what threads wait for, and where.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Finding, Lock, Process, Run};

use super::remedy::remedy;
use crate::from_profile::wanted_at;
use crate::uncounted::is_uncounted;
use crate::words::percent;
use crate::{Recommendation, Verdict};

/// The share of all waits for locks from which on waits that nobody can count forbid a forecast.
const MOST_OF_THE_WAITS: f64 = 0.5;
/// The share of the time of threads that have work from which on they matter.
const MATTER: f64 = 0.05;
/// The same share from which on they explain that more cores bring little.
const EXPLAINS: f64 = 0.1;
/// What is not known then.
const NO_FORECAST: &str = "How far the program scales on more cores is not forecast: nobody can count how often \
                           that lock is taken, or time how long it is held.";
/// How much of a core may be missing until threads count as computing one at a time.
const ONE_CORE: f64 = 1.25;

/// Such a lock, the one that threads wait for longest.
pub(super) struct OnlyWaitedFor<'a> {
    lock: &'a Lock,
    process: &'a Process,
    /// The share of the time of threads that have work in which they wait for such locks.
    share: f64,
}

/// The answer for a run whose threads wait mostly for such locks. `busy_cores` is how many cores it kept
/// busy on average.
pub(super) fn answer(run: &Run, busy_cores: f64) -> Option<Recommendation> {
    Some(about(&longest(run, busy_cores)?, run, busy_cores))
}

/// The lock that threads wait for longest, if they wait mostly for such locks.
pub(super) fn longest(run: &Run, busy_cores: f64) -> Option<OnlyWaitedFor<'_>> {
    let locks = || run.processes.iter().flat_map(|process| &process.locks);
    let all: Nanoseconds<f64> = locks().map(Lock::waited).sum();
    let dark: Nanoseconds<f64> = locks().filter(|lock| is_uncounted(lock)).map(Lock::waited).sum();
    let counted: Nanoseconds<f64> =
        run.processes.iter().map(|process| process.threads.cpu_time).sum();
    // Of a process that was watched, less may be known than what its threads used.
    let ran = counted.max(run.wall_time * busy_cores);
    // Sleep of other kinds is left out: a runtime has many threads that only wait for work.
    let share = dark / (dark + ran).max(Nanoseconds(1.0));
    if share < MATTER || dark <= all * MOST_OF_THE_WAITS || is_quiet(run) {
        return None;
    }
    let worst = |process: &Process| -> Option<(Nanoseconds<f64>, usize)> {
        let dark = process.locks.iter().enumerate().filter(|(_, lock)| is_uncounted(lock));
        dark.map(|(index, lock)| (lock.waited(), index)).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let (process, (_, index)) = run
        .processes
        .iter()
        .filter_map(|process| Some((process, worst(process)?)))
        .max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
    Some(OnlyWaitedFor { lock: &process.locks[index], process, share })
}

/// Whether threads hardly wait for locks, by the account of all their time.
fn is_quiet(run: &Run) -> bool {
    let quiet = |finding: &Finding| matches!(finding, Finding::NoContention { .. });
    run.checked_times().is_some_and(|times| times.findings.iter().any(quiet))
}

/// What is not known of such locks, where threads hardly wait for them.
pub(super) fn gap(run: &Run) -> Option<String> {
    let mut locks = run.processes.iter().flat_map(|process| &process.locks);
    locks.any(is_uncounted).then(|| {
        "its threads hardly wait for locks, and how often they take those that were seen cannot be \
         counted from outside"
            .to_owned()
    })
}

impl OnlyWaitedFor<'_> {
    /// How long threads wait for it, worded such that it can stand in a sentence.
    fn how_long(&self) -> String {
        let what = self.lock.what.as_deref().unwrap_or("a lock of an unknown kind");
        format!(
            "threads that have work wait {} of their time for a lock whose acquisitions cannot be seen \
             from outside, {what}, acquired at {}",
            percent(self.share),
            wanted_at(self.lock)
        )
    }

    /// The answer that it limits the program, if threads wait for it long enough to explain what was
    /// measured: that more cores bring little.
    pub(super) fn limits(&self, measured: &str) -> Option<Recommendation> {
        let why = format!("{measured}, and {}", self.how_long());
        let text = vec![remedy(self.lock, None), NO_FORECAST.to_owned()];
        (self.share >= EXPLAINS)
            .then(|| super::answer::of_here_alone(Verdict::LimitedByLocks, &why, text))
    }
}

fn about(waits: &OnlyWaitedFor<'_>, run: &Run, busy_cores: f64) -> Recommendation {
    let OnlyWaitedFor { lock, process, share } = *waits;
    let what = lock.what.as_deref().unwrap_or("a lock of an unknown kind");
    let others =
        run.processes.iter().filter(|one| one.pid != process.pid).map(|one| one.threads.cpu_time);
    // What is known of the processor time of a process that was watched may be less than all of it.
    let windows = run.times.as_ref().filter(|times| times.is_enough());
    let windows = windows.map_or(0.0, |times| times.total().computing().share_of(times.observed));
    let all = busy_cores.max(windows);
    let busy = all - others.sum::<Nanoseconds<f64>>() / run.wall_time.max(Nanoseconds(1.0));
    if what.contains("global interpreter lock") && busy <= ONE_CORE {
        let why = format!(
            "its threads compute one at a time, because {what} lets no other; {} of their time they \
             wait for it",
            percent(share)
        );
        return super::answer::answer(Verdict::LimitedByLocks, &why, vec![remedy(lock, None)]);
    }
    super::answer::answer(Verdict::Unknown, &waits.how_long(), vec![remedy(lock, None)])
}
