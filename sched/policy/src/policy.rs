//! What every policy does.

use alloc::vec::Vec;
use core::fmt::Debug;

use kilocore_platform::{CpuId, LockLabel, Nanos};

use crate::cpu_set::CpuSet;
use crate::ids::TaskId;
use crate::machine::Machine;
use crate::order::Order;
use crate::score::Progress;
use crate::share::Share;
use crate::window::Window;

/// A task that waits for a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// The task that waits.
    pub task: TaskId,
    /// How much time it has had of the core, as the core's own queue counts it: the measure of
    /// fairness.
    pub had: Nanos,
}

/// The tasks that may be picked, with their places: those that are ahead of the one that is most behind
/// by no more than `lead`.
pub(crate) fn due(ready: &[Ready], lead: Nanos) -> impl Iterator<Item = (usize, &Ready)> {
    let least = ready.iter().map(|task| task.had.0).min().unwrap_or(0);
    let most = least.saturating_add(lead.0);
    ready.iter().enumerate().filter(move |(_, task)| task.had.0 <= most)
}

/// A scheduler that sees contention.
///
/// A policy is deterministic: the same windows make the same orders. It knows of tasks only what
/// windows say, and forgets those that are in none any more.
pub trait Policy: Debug {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// A window is over: decides where tasks may run. Tasks without an order stay as they are.
    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order>;

    /// Says which of the tasks that are ready on a core is next: a position in `ready`, which is not
    /// empty and in the order in which the core would take them. `running` is what each core runs
    /// now, `core` itself excepted.
    ///
    /// Only drivers inside a scheduler ask.
    fn pick(
        &mut self,
        machine: &Machine,
        core: CpuId,
        ready: &[Ready],
        running: &[Option<TaskId>],
    ) -> usize {
        let _ = (machine, core, ready, running);
        0
    }

    /// What is confined where, and why: for people to see.
    fn groups(&self) -> Vec<GroupStatus> {
        Vec::new()
    }
}

/// What a policy does with a group of tasks that wait for the same locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupState {
    /// Lets the tasks run wherever their owners allow.
    Free,
    /// Looks for the best number of cores.
    Searching,
    /// It has found a number, and holds it.
    Holding,
    /// Tries a neighbouring number, whether that is better by now.
    Probing,
}

/// A group of tasks that wait for the same locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupStatus {
    /// Its locks, in rising order.
    pub locks: Vec<LockLabel>,
    /// Its tasks, in rising order.
    pub tasks: Vec<TaskId>,
    /// Where they may run.
    pub cpus: CpuSet,
    /// The best number of cores, as far as that is known.
    pub best: u32,
    /// By what it is known how much its tasks get done, if the policy goes by that.
    pub judged: Option<Progress>,
    /// The share of time that its tasks waited for locks in the last window.
    pub waiting: Share,
    /// What the policy does with it.
    pub state: GroupState,
    /// For how many windows it has been confined.
    pub windows: u64,
    /// After how many of them the best number was first known, if it is.
    pub found: Option<u64>,
    /// How often the number of cores has changed.
    pub changes: u64,
}
