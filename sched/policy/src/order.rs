//! What a policy tells a driver to do.

use crate::cpu_set::CpuSet;
use crate::ids::TaskId;
use crate::window::TaskWindow;

/// Where a task may run from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    task: TaskId,
    cpus: CpuSet,
}

impl Order {
    /// Confines a task to those of `wanted` that it may use. If it may use none of them, it keeps all
    /// that its owner allows.
    #[must_use]
    pub fn confine(task: &TaskWindow, wanted: &CpuSet) -> Self {
        let cpus = wanted.intersection(&task.allowed);
        let cpus = if cpus.is_empty() { task.allowed.clone() } else { cpus };
        Self { task: task.task, cpus }
    }

    /// Lets a task run wherever its owner allows.
    #[must_use]
    pub fn release(task: &TaskWindow) -> Self {
        Self { task: task.task, cpus: task.allowed.clone() }
    }

    /// The task that the order is for.
    #[must_use]
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// The cores on which it may run. They are not empty if its allowance was not, and each is in its
    /// allowance.
    #[must_use]
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }
}
