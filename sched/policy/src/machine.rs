//! The machine, as far as a scheduler has to know it.

use alloc::vec::Vec;

use kilocore_platform::{CpuId, NodeId};

use crate::cpu_set::CpuSet;
use crate::ids::{CacheId, TaskId};

/// What a hardware thread shares with others: its physical core, its cache and its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuTopology {
    /// Which hardware thread of its physical core it is, from 0.
    pub thread: u32,
    /// The last-level cache that it uses.
    pub cache: CacheId,
    /// The memory node that it belongs to.
    pub node: NodeId,
}

/// The hardware threads of a machine, called cores here as schedulers do.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Of core `i` at index `i`.
    topologies: Vec<CpuTopology>,
    /// All cores, those first that one would use first: neighbours one after the other, and the
    /// second threads of physical cores last.
    compact: Vec<CpuId>,
}

impl Machine {
    /// A machine with a core for each of these: core `i` is the one at index `i`.
    #[must_use]
    pub fn new(topologies: Vec<CpuTopology>) -> Self {
        let mut compact: Vec<CpuId> = (0..topologies.len() as u32).map(CpuId).collect();
        compact.sort_by_key(|cpu| {
            let CpuTopology { thread, cache, node } = topologies[cpu.0 as usize];
            (thread, node, cache, *cpu)
        });
        Self { topologies, compact }
    }

    /// A machine with so many cores that share one cache.
    #[must_use]
    pub fn flat(cores: u32) -> Self {
        let one = CpuTopology { thread: 0, cache: CacheId(0), node: NodeId(0) };
        Self::new(alloc::vec![one; cores as usize])
    }

    /// How many cores it has.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.topologies.len() as u32
    }

    /// The set of all cores of the machine.
    #[must_use]
    pub fn all(&self) -> CpuSet {
        CpuSet::first(self.cores())
    }

    /// All its cores, one after the other.
    pub(crate) fn cpus(&self) -> impl Iterator<Item = CpuId> + use<> {
        (0..self.cores()).map(CpuId)
    }

    /// What runs on the other cores of a core's last-level cache, if `running` is what each core runs.
    /// Nothing if the machine does not have the core.
    pub(crate) fn beside<'a>(
        &'a self,
        core: CpuId,
        running: &'a [Option<TaskId>],
    ) -> impl Iterator<Item = TaskId> + 'a {
        let cache = |cpu| self.topology(cpu).map(|topology| topology.cache);
        let here = cache(core);
        let others = self.cpus().filter(move |&cpu| cpu != core && cache(cpu) == here);
        others.filter_map(|cpu| running.get(cpu.0 as usize).copied().flatten())
    }

    /// What a core shares with others, or `None` if the machine does not have it.
    #[must_use]
    pub fn topology(&self, cpu: CpuId) -> Option<CpuTopology> {
        self.topologies.get(cpu.0 as usize).copied()
    }

    /// All its cores, neighbours one after the other, and the second threads of physical cores last.
    #[must_use]
    pub fn compact(&self) -> &[CpuId] {
        &self.compact
    }
}
