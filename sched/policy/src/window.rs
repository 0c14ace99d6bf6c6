//! What tasks did in a window of time: all that a policy knows.

use alloc::vec::Vec;

use kilocore_platform::{CpuId, LockLabel, Nanos};

use crate::cpu_set::CpuSet;
use crate::ids::{ProgramId, TaskId};
use crate::share::Share;

/// What a task had to do with one lock in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockWait {
    /// The lock that was waited for.
    pub lock: LockLabel,
    /// How long the task waited for it on a core: spinning, or on its way to sleep and back.
    pub spun: Nanos,
    /// How long it slept for it.
    pub slept: Nanos,
    /// How often it got the lock, if the driver can count that.
    pub acquired: Option<u64>,
}

/// What the processor counted for a task in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Cycles in which the task had a core.
    pub cycles: u64,
    /// Instructions that it did.
    pub instructions: u64,
    /// References to the last-level cache.
    pub references: u64,
    /// References that had to go on to memory.
    pub misses: u64,
    /// References of other tasks to the same last-level cache while this one ran.
    pub neighbour_references: u64,
    /// Those of them that had to go on to memory.
    pub neighbour_misses: u64,
}

/// What a task did while another one used the same last-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoRun {
    /// The task that used the cache meanwhile.
    pub task: TaskId,
    /// Cycles in which both had cores.
    pub cycles: u64,
    /// Instructions that the first one did in them.
    pub instructions: u64,
}

/// What a task did in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskWindow {
    /// The task whose window this is.
    pub task: TaskId,
    /// The program that it belongs to.
    pub program: ProgramId,
    /// Where its owner lets it run. Not empty.
    pub allowed: CpuSet,
    /// The core that it is on, or was on last.
    pub cpu: CpuId,
    /// How long it had a core.
    pub ran: Nanos,
    /// How long of that it was its own code that ran, and not the kernel for it, if the driver knows.
    /// Spinning belongs to it, also for a lock of the kernel.
    pub user: Option<Nanos>,
    /// How long it wanted a core and had none.
    pub ready: Nanos,
    /// Locks that it had to do with, each once.
    pub locks: Vec<LockWait>,
    /// What the processor counted, if it counts.
    pub counters: Option<Counters>,
    /// The same for the times beside each of its neighbours, in the order of their numbers. Only drivers
    /// inside a scheduler see that.
    pub beside: Vec<CoRun>,
}

impl TaskWindow {
    /// How long it spun for locks.
    #[must_use]
    pub fn spun(&self) -> Nanos {
        Nanos(self.locks.iter().map(|wait| wait.spun.0).sum())
    }

    /// How long it slept for locks.
    #[must_use]
    pub fn slept(&self) -> Nanos {
        Nanos(self.locks.iter().map(|wait| wait.slept.0).sum())
    }

    /// The share that waiting for locks had in the time that the task ran or waited.
    #[must_use]
    pub fn waiting(&self) -> Share {
        let (spun, slept) = (self.spun().0, self.slept().0);
        Share::of(Nanos(spun + slept), Nanos(self.ran.0.max(spun) + slept))
    }

    /// The lock that it waited for longest, if it waited at all.
    #[must_use]
    pub fn hottest(&self) -> Option<LockLabel> {
        let waited = self.locks.iter().filter(|wait| wait.spun.0 + wait.slept.0 > 0);
        let longest = waited.max_by_key(|wait| (wait.spun.0 + wait.slept.0, wait.lock));
        longest.map(|wait| wait.lock)
    }
}

/// What all tasks did in a window. The next window begins where it ends.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// How long it was.
    pub length: Nanos,
    /// The tasks that are alive at its end, in the order of their numbers.
    pub tasks: &'a [TaskWindow],
}
