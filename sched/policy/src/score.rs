//! How much the tasks of a group get done.
//!
//! The thesis maximizes a model of throughput, n · (1 − p(n)), where n is the number of cores and p(n)
//! the share of time that tasks wait for locks on them. If all n cores are busy, that is the number of
//! cores that do something useful. It is measured here as just that: time on cores without waiting,
//! per time. So it is right as well for tasks that sleep now and then.
//!
//! The model believes that what runs and does not wait is useful. That is not so where a section
//! under a lock itself takes longer on more cores, as its data have farther to travel. Where a
//! driver counts acquisitions, their rate is the better measure, and the default. Where it does
//! not, all cores have to be [notably better](crate::LockAwareOptions::doubt) than fewer. Time on
//! cores without waiting counts less an eighth of the waiting. Without that eighth, noise of 20 %
//! near p = 1 made 28 cores look better than 6. Where it is known how long tasks ran their own
//! code, the kernel's time counts an eighth, too: waking each other up is not progress. All cores
//! have to look better than fewer by 15 %. Scores of two kinds never compare: a group begins anew
//! when the kind changes.

use core::cmp::Ordering;

use kilocore_platform::Nanos;

use crate::window::TaskWindow;

/// What tells how much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Progress {
    /// The rate at which locks are acquired where it is counted, else useful cores.
    #[default]
    Acquisitions,
    /// Useful cores: the model of the thesis.
    UsefulCores,
}

/// How much was done per time: millionths of cores, or acquisitions in 1,000 seconds. Scores compare
/// only if they are of one kind and one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Score(pub(crate) u64);

impl Score {
    /// This much if so many per cent of the whole are not to be believed.
    pub(crate) fn less(self, percent: u32) -> Score {
        let believed = u128::from(self.0) * 100 / u128::from(100 + percent);
        Score(believed as u64)
    }

    /// Whether this is more than `other` by more than so many per cent of it.
    pub(crate) fn beats(self, other: Score, percent: u32) -> bool {
        let (mine, theirs) = (u128::from(self.0) * 100, u128::from(other.0));
        mine.cmp(&(theirs * (100 + u128::from(percent)))) == Ordering::Greater
    }
}

/// How much some tasks have done in a window of this length, and by what that is known, which is not always
/// what it shall be known by. `before` is what it was known by until now.
pub(crate) fn score<'a>(
    by: Progress,
    before: Option<Progress>,
    length: Nanos,
    tasks: impl Iterator<Item = &'a TaskWindow> + Clone,
) -> (Progress, Score) {
    let length = u128::from(length.0.max(1));
    let counted = match by {
        Progress::Acquisitions => acquisitions(tasks.clone()),
        Progress::UsefulCores => Counted::NotAll,
    };
    let (by, done) = match (counted, before) {
        (Counted::Times(times), _) => (Progress::Acquisitions, per_time(times, 1_000_000, length)),
        // They are counted, and there were none.
        (Counted::None, Some(Progress::Acquisitions)) => (Progress::Acquisitions, 0),
        _ => (Progress::UsefulCores, per_time(useful(tasks), 1, length)),
    };
    (by, Score(u64::try_from(done).unwrap_or(u64::MAX)))
}

/// Millionths of what was done per nanosecond, each of which counts this much.
fn per_time(done: u64, each: u128, length: u128) -> u128 {
    u128::from(done) * each * 1_000_000 / length
}

/// How often tasks acquired locks.
enum Counted {
    Times(u64),
    /// None had to do with any lock.
    None,
    /// Of some locks it is not known.
    NotAll,
}

fn acquisitions<'a>(tasks: impl Iterator<Item = &'a TaskWindow>) -> Counted {
    let mut all: u64 = 0;
    for wait in tasks.flat_map(|task| &task.locks) {
        match wait.acquired {
            Some(times) => all = all.saturating_add(times),
            None => return Counted::NotAll,
        }
    }
    if all > 0 { Counted::Times(all) } else { Counted::None }
}

/// Nanoseconds on cores without waiting, less an eighth of those with. Where nearly all cores wait, a
/// small error in that share is a large one in the rest of it. So few useful cores among many that wait
/// must not look better than they may be.
///
/// Who sleeps for a lock and wakes others works in the kernel for that, which is not useful. How much of its work
/// that is, nobody says. But what a program does for itself, it does as often as it gets anything done; so that
/// counts, and of the kernel's work an eighth, for programs that do hardly anything themselves.
fn useful<'a>(tasks: impl Iterator<Item = &'a TaskWindow>) -> u64 {
    let (mut ran, mut spun) = (0_u64, 0_u64);
    for task in tasks {
        let kernel = task.user.map_or(0, |user| task.ran.0.saturating_sub(user.0));
        ran = ran.saturating_add(task.ran.0 - (kernel - kernel / 8));
        spun = spun.saturating_add(task.spun().0);
    }
    ran.saturating_sub(spun).saturating_sub(spun / 8)
}
