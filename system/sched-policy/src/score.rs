//! How much the tasks of a group get done.
//!
//! The thesis maximizes a model of throughput, n · (1 − p(n)), where n is the number of cores and p(n)
//! the share of time that tasks wait for locks on them. If all n cores are busy, that is the number of
//! cores that do something useful. It is measured here as just that: time on cores without waiting,
//! per time. So it is right as well for tasks that sleep now and then.
//!
//! The model believes that what runs and does not wait is useful. That is not so where a section under
//! a lock itself takes longer on more cores, as its data have farther to travel. Where a driver counts
//! acquisitions, their rate is the better measure, and the default.

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
    /// Whether this is more than `other` by more than so many per cent of it.
    pub(crate) fn beats(self, other: Score, percent: u32) -> bool {
        let (mine, theirs) = (u128::from(self.0) * 100, u128::from(other.0));
        mine.cmp(&(theirs * (100 + u128::from(percent)))) == Ordering::Greater
    }
}

/// How much some tasks have done in a window of this length.
pub(crate) fn score<'a>(
    by: Progress,
    length: Nanos,
    tasks: impl Iterator<Item = &'a TaskWindow> + Clone,
) -> Score {
    let length = u128::from(length.0.max(1));
    let acquired = match by {
        Progress::Acquisitions => acquisitions(tasks.clone()),
        Progress::UsefulCores => None,
    };
    let done = match acquired {
        Some(times) => u128::from(times) * 1_000_000_000_000 / length,
        None => u128::from(useful(tasks)) * 1_000_000 / length,
    };
    Score(u64::try_from(done).unwrap_or(u64::MAX))
}

/// Acquisitions of all locks, unless some are not counted or there were none.
fn acquisitions<'a>(tasks: impl Iterator<Item = &'a TaskWindow>) -> Option<u64> {
    let mut all = 0;
    for wait in tasks.flat_map(|task| &task.locks) {
        all += wait.acquired?;
    }
    (all > 0).then_some(all)
}

/// Nanoseconds on cores without waiting, less an eighth of those with. Where nearly all cores wait, a
/// small error in that share is a large one in the rest of it. So few useful cores among many that wait
/// must not look better than they may be.
fn useful<'a>(tasks: impl Iterator<Item = &'a TaskWindow>) -> u64 {
    let (mut ran, mut spun) = (0_u64, 0_u64);
    for task in tasks {
        ran = ran.saturating_add(task.ran.0);
        spun = spun.saturating_add(task.spun().0);
    }
    ran.saturating_sub(spun).saturating_sub(spun / 8)
}
