//! A fixed number of cores for all tasks that wait for locks: what a perfect choice would do.
//!
//! A sweep over that number says what is best, and how near a policy comes that has to find it.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::cpu_set::CpuSet;
use crate::ids::TaskId;
use crate::line_up::LineUp;
use crate::machine::Machine;
use crate::order::Order;
use crate::policy::Policy;
use crate::window::Window;

/// Confines each task to the first k cores from the first window in which it has to do with a lock.
#[derive(Debug, Clone)]
pub struct Confined {
    cores: u32,
    confined: BTreeSet<TaskId>,
}

impl Confined {
    /// On so many cores, at least one.
    #[must_use]
    pub fn new(cores: u32) -> Self {
        Self { cores: cores.max(1), confined: BTreeSet::new() }
    }
}

impl Policy for Confined {
    fn name(&self) -> &'static str {
        "confined"
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        let alive: BTreeSet<TaskId> = window.tasks.iter().map(|task| task.task).collect();
        self.confined.retain(|task| alive.contains(task));
        let mut orders = Vec::new();
        for task in window.tasks.iter().filter(|task| !task.locks.is_empty()) {
            if self.confined.insert(task.task) {
                let line_up = LineUp::new(machine, &task.allowed, &CpuSet::new());
                orders.push(Order::confine(task, &line_up.first(self.cores)));
            }
        }
        orders
    }
}
