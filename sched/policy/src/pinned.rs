//! Static pinning: each task on one core, for good.
//!
//! Tasks are dealt to cores as they come, in the machine's compact order, and each to the core that
//! has fewest of those that it may use.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kilocore_platform::CpuId;

use crate::ids::TaskId;
use crate::machine::Machine;
use crate::order::Order;
use crate::policy::Policy;
use crate::window::Window;

/// Pins each task to a core.
#[derive(Debug, Clone, Default)]
pub struct Pinned {
    pinned: BTreeMap<TaskId, CpuId>,
}

impl Policy for Pinned {
    fn name(&self) -> &'static str {
        "pinned"
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        self.pinned.retain(|task, _| window.tasks.iter().any(|alive| alive.task == *task));
        let mut load: BTreeMap<CpuId, u32> = BTreeMap::new();
        for &cpu in self.pinned.values() {
            *load.entry(cpu).or_default() += 1;
        }
        let mut orders = Vec::new();
        for task in window.tasks {
            if self.pinned.contains_key(&task.task) {
                continue;
            }
            let usable = machine.compact().iter().filter(|&&cpu| task.allowed.contains(cpu));
            let emptiest = usable.min_by_key(|&cpu| load.get(cpu).copied().unwrap_or(0));
            let Some(&cpu) = emptiest else { continue };
            *load.entry(cpu).or_default() += 1;
            self.pinned.insert(task.task, cpu);
            orders.push(Order::confine(task, &core::iter::once(cpu).collect()));
        }
        orders
    }
}
