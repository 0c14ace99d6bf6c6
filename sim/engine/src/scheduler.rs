//! Who decides where tasks run.

use std::fmt::Debug;

use kilocore_platform::{CpuId, Cycles};

use crate::counters::MachineView;
use crate::ids::{CoreSet, TaskId};

/// Where a task may run from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move {
    /// The task that is moved.
    pub task: TaskId,
    /// The cores. Those on which its owner does not let it run do not count.
    pub cores: CoreSet,
}

/// A task that waits for a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyTask {
    /// The task that waits.
    pub task: TaskId,
    /// How much it has had of the core, as the core's queue counts it: what a new one begins with is
    /// what the others have had.
    pub had: Cycles,
}

/// A scheduler, which the simulated operating system asks.
///
/// It is part of the simulation, so it has to be deterministic.
pub trait Scheduler: Debug {
    /// How much time passes from one [`balance`](Self::balance) to the next. At least one cycle.
    fn period(&self) -> Cycles;

    /// Looks at the machine and says where tasks may run. Tasks without a move stay as they are. A
    /// move to no core at all, or to none that its owner allows, ends the simulation with
    /// [`SimError::NoCore`](crate::SimError::NoCore).
    fn balance(&mut self, view: &MachineView<'_>) -> Vec<Move>;

    /// Says which of the tasks that are ready on a core is next: a position in `ready`, which is not
    /// empty and in the order in which the core would take them. `running` is what each core runs, and
    /// `core` itself runs nothing.
    fn pick(&mut self, core: CpuId, ready: &[ReadyTask], running: &[Option<TaskId>]) -> usize {
        let _ = (core, ready, running);
        0
    }

    /// How long a decision takes on the core that takes it. [`pick`](Self::pick) does so on its core,
    /// beside the context switch, and [`balance`](Self::balance) on the machine's first core if that
    /// computes.
    fn decision_time(&self) -> Cycles {
        Cycles(0)
    }
}
