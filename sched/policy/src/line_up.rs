//! Which cores a group of tasks gets, one after the other.
//!
//! A group that gets k cores gets the first k of its line-up. So one core more or less moves only
//! the tasks of that core. Neighbours stand side by side, because what a lock protects then travels
//! least. Cores that other groups use stand last. Each group has cores of its own while there are
//! enough.

use alloc::vec::Vec;

use kilocore_platform::CpuId;

use crate::cpu_set::CpuSet;
use crate::machine::{CpuTopology, Machine};

/// All cores that a group may use, in the order in which it gets them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineUp(Vec<CpuId>);

impl LineUp {
    /// A line-up of the cores in `allowed`, with those in `taken` last.
    pub(crate) fn new(machine: &Machine, allowed: &CpuSet, taken: &CpuSet) -> Self {
        let mut free: Vec<CpuId> = Vec::new();
        let mut others: Vec<CpuId> = Vec::new();
        for &cpu in machine.compact().iter().filter(|&&cpu| allowed.contains(cpu)) {
            if taken.contains(cpu) { others.push(cpu) } else { free.push(cpu) }
        }
        // The node with the most free cores comes first, and in it the cache with the most.
        let topology = |cpu: CpuId| machine.topology(cpu).expect("the machine lists its own cores");
        let like = |cpu: CpuId, same: &dyn Fn(CpuTopology, CpuTopology) -> bool| {
            free.iter().filter(|&&other| same(topology(cpu), topology(other))).count()
        };
        let mut ranked: Vec<_> = free
            .iter()
            .enumerate()
            .map(|(rank, &cpu)| {
                let node = like(cpu, &|a, b| a.node == b.node);
                let cache = like(cpu, &|a, b| a.cache == b.cache);
                let at = topology(cpu);
                let order = (at.thread, usize::MAX - node, at.node, usize::MAX - cache, at.cache);
                (order, rank, cpu)
            })
            .collect();
        ranked.sort_unstable_by_key(|&(order, rank, _)| (order, rank));
        Self(ranked.into_iter().map(|(_, _, cpu)| cpu).chain(others).collect())
    }

    /// The first `count` cores, at least one if there is one.
    pub(crate) fn first(&self, count: u32) -> CpuSet {
        self.0.iter().take(count.max(1) as usize).copied().collect()
    }
}
