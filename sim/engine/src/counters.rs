//! What a scheduler sees of the machine.
//!
//! All counts begin at the beginning of the simulation, so that what happened in a window is the
//! difference of two views. Waits under way count up to the moment of the view.

use kilocore_platform::{CpuId, Cycles, LockLabel};

use crate::ids::{CoreSet, TaskId};
use crate::outcome::TaskTimes;

/// What a task has had to do with one lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockTimes {
    /// The lock that was waited for.
    pub lock: LockLabel,
    /// How long the task has waited for it on a core: spinning, or on its way to sleep and back.
    pub on_core: Cycles,
    /// How long it has slept for it.
    pub asleep: Cycles,
    /// How long it wanted a core in a wait for it, and had none.
    pub ready: Cycles,
    /// How often it has got it.
    pub acquisitions: u64,
}

impl LockTimes {
    pub(crate) fn new(lock: LockLabel) -> Self {
        let none = Cycles(0);
        Self { lock, on_core: none, asleep: none, ready: none, acquisitions: 0 }
    }
}

/// What a task is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// It has a core.
    OnCore,
    /// It wants a core.
    Ready,
    /// It sleeps, and wants no core.
    Asleep,
    /// It has ended, and never runs again.
    Done,
}

/// What is counted for a task beside its times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TaskCounters {
    /// How often it has got a core.
    pub switches: u64,
    /// How often that was another core than before.
    pub migrations: u64,
    /// Cycles of what it [executed](crate::Sim::execute). This and the following are counted for
    /// nothing else.
    pub cycles: u64,
    /// Instructions that it executed.
    pub instructions: u64,
    /// References to the last-level cache.
    pub references: u64,
    /// Those of them that missed.
    pub misses: u64,
    /// Bytes to and from memory.
    pub memory_bytes: u64,
    /// References of other tasks to the same last-level cache while this one ran.
    pub neighbour_references: u64,
    /// Those of them that missed.
    pub neighbour_misses: u64,
}

/// What a task [executed](crate::Sim::execute) while another one used the same last-level cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CoRun {
    /// The task that used the cache meanwhile.
    pub task: TaskId,
    /// Cycles in which both had cores.
    pub cycles: u64,
    /// Instructions that it executed.
    pub instructions: u64,
}

/// A task, as a scheduler sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskView {
    /// The task that this is about.
    pub task: TaskId,
    /// What it is about.
    pub state: RunState,
    /// The core that it is on, is queued at, or was on last.
    pub core: CpuId,
    /// Where its owner lets it run: the set with which it was spawned.
    pub allowed: CoreSet,
    /// Where the scheduler lets it run, which is never outside of that.
    pub cores: CoreSet,
    /// What its cores have done for it.
    pub times: TaskTimes,
    /// How long it wanted a core and had none.
    pub ready: Cycles,
    /// How long it has slept.
    pub asleep: Cycles,
    /// The locks that it has had to do with, in the order of their labels.
    pub locks: Vec<LockTimes>,
    /// What else is counted.
    pub counters: TaskCounters,
    /// What of that was beside which task, in the order of spawning.
    pub beside: Vec<CoRun>,
}

/// The machine at a moment, as a scheduler sees it.
#[derive(Debug, Clone, Copy)]
pub struct MachineView<'a> {
    /// The moment, in cycles since the simulation began.
    pub now: Cycles,
    /// All tasks in the order of spawning, also those that have ended.
    pub tasks: &'a [TaskView],
    /// What each core runs.
    pub running: &'a [Option<TaskId>],
}
