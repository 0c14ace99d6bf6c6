//! How closely threads are watched: closely while any wait for locks, and loosely while none does.
//!
//! Samples and looks interrupt the program, which is a loss to one that has no contention. After some windows
//! in which hardly anybody waited, only a few are taken. These are enough to see that somebody begins to wait,
//! and from then on all are taken again. While a policy confines anybody, they are all taken as well, since
//! nobody waits then because of it.

use kilocore_sched_policy::{Nanos, Share, TaskWindow};

/// After so many calm windows, watching is loose.
const CALM: u32 = 5;

/// A window is calm if waiting is no more of the threads' time than this.
const HARDLY: Share = Share::percent(1);

/// How closely to watch.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    calm: u32,
}

impl Pace {
    /// A window is over in which tasks did this. `steers` says whether the policy confines any of them.
    pub(crate) fn window(&mut self, tasks: &[TaskWindow], steers: bool) {
        let sum =
            |time: fn(&TaskWindow) -> Nanos| Nanos(tasks.iter().map(|task| time(task).0).sum());
        let (spun, slept) = (sum(TaskWindow::spun), sum(TaskWindow::slept));
        let time = Nanos(sum(|task| task.ran).0.max(spun.0) + slept.0);
        let waiting = Share::of(Nanos(spun.0 + slept.0), time);
        self.calm = if steers || waiting > HARDLY { 0 } else { self.calm.saturating_add(1) };
    }

    /// Whether few samples and looks are enough.
    pub(crate) fn is_loose(&self) -> bool {
        self.calm >= CALM
    }
}

#[cfg(test)]
mod tests {
    use kilocore_sched_policy::{CpuId, CpuSet, LockLabel, LockWait, ProgramId, TaskId};

    use super::*;

    /// A task that ran for a second and spun so many milliseconds of it.
    fn task(spun: u64) -> TaskWindow {
        let spun = Nanos(spun * 1_000_000);
        let wait = LockWait { lock: LockLabel(1), spun, slept: Nanos(0), acquired: None };
        TaskWindow {
            task: TaskId(1),
            program: ProgramId(1),
            allowed: CpuSet::first(2),
            cpu: CpuId(0),
            ran: Nanos(1_000_000_000),
            user: None,
            ready: Nanos(0),
            locks: vec![wait],
            counters: None,
            beside: Vec::new(),
        }
    }

    #[test]
    fn watching_is_loose_after_calm_windows_until_somebody_waits() {
        let mut pace = Pace::default();
        for window in 0..10 {
            assert_eq!(pace.is_loose(), window >= 5);
            pace.window(&[task(10), task(0)], false);
        }
        pace.window(&[task(30), task(0)], false);
        assert!(!pace.is_loose());
    }

    #[test]
    fn watching_stays_close_while_the_policy_confines_somebody() {
        let mut pace = Pace::default();
        (0..10).for_each(|_| pace.window(&[task(0)], true));
        assert!(!pace.is_loose());
    }
}
