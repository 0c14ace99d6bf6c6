//! Which processors tasks run on.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use kilocore_figures::core_counts;
use kilocore_hardware::{CpuId, affinity, confine};
use kilocore_hardware::{Processor, cores_first, shape, siblings_together};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Refusal;

/// How tasks are pinned to processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pin {
    /// Each task has a core of its own. One node after the other is filled. The second hardware
    /// threads of the cores are used last.
    #[default]
    Core,
    /// Each task has a hardware thread of its own. The threads of a core are used one after the
    /// other.
    Sibling,
    /// Each task has a node, and may use any processor of it. The nodes are dealt out in turn. No
    /// node has more tasks than processors before all are full.
    Node,
    /// Each task may use any processor.
    None,
}

impl Pin {
    /// All ways to pin.
    pub const ALL: [Pin; 4] = [Pin::Core, Pin::Sibling, Pin::Node, Pin::None];

    /// Returns the name of this way, as on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pin::Core => "core",
            Pin::Sibling => "sibling",
            Pin::Node => "node",
            Pin::None => "none",
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error of a word that names no way of pinning.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("'{0}' is no way to pin tasks; write core, sibling, node or none")]
pub struct UnknownPin(String);

impl FromStr for Pin {
    type Err = UnknownPin;

    fn from_str(word: &str) -> Result<Self, UnknownPin> {
        let of_name = Pin::ALL.into_iter().find(|pin| pin.name() == word);
        of_name.ok_or_else(|| UnknownPin(word.to_owned()))
    }
}

/// The processors that this process may run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpus(Vec<Processor>);

impl Cpus {
    /// Returns the processors of this process. The system says where they are.
    #[must_use]
    pub fn of_this_process() -> Self {
        let allowed = allowed();
        let known = shape(Path::new("/sys/devices/system")).map(|shape| shape.processors);
        let mut places: BTreeMap<u32, Processor> =
            known.unwrap_or_default().into_iter().map(|place| (place.cpu, place)).collect();
        // If the system does not say where a processor is, it is taken for a core of its own.
        let unknown = |cpu| Processor { cpu, socket: 0, node: 0, group: 0, core: u32::MAX - cpu };
        let place = |cpu| places.remove(&cpu).unwrap_or_else(|| unknown(cpu));
        Self(allowed.into_iter().map(place).collect())
    }

    /// Returns how many processors there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// Returns on how many NUMA nodes they are.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.by_node().len() as u32
    }

    /// Returns the core counts of a full run: the powers of two below the number of processors, and
    /// that number.
    #[must_use]
    pub fn default_counts(&self) -> Vec<u32> {
        core_counts(self.count())
    }

    /// Returns the core counts of a quick run: one, half of the processors, and all.
    #[must_use]
    pub fn few_counts(&self) -> Vec<u32> {
        let most = self.count().max(1);
        let mut counts = vec![1, (most / 2).max(1), most];
        counts.dedup();
        counts
    }

    /// Returns the processors of each of `tasks` tasks. An empty list stands for any processor.
    #[must_use]
    pub fn seats(&self, pin: Pin, tasks: u32) -> Vec<Vec<u32>> {
        let tasks = tasks as usize;
        let one = |order: Vec<Processor>| {
            order.iter().cycle().take(tasks).map(|place| vec![place.cpu]).collect()
        };
        match pin {
            Pin::Core => one(cores_first(&self.0)),
            Pin::Sibling => one(siblings_together(&self.0)),
            Pin::Node => {
                let nodes = self.by_node();
                let turns = nodes.values().map(Vec::len).max().unwrap_or(0);
                // A node that is full is passed over until all are.
                let with_room = |turn| nodes.values().filter(move |node| node.len() > turn);
                let dealt: Vec<_> = (0..turns).flat_map(with_room).collect();
                dealt.into_iter().cycle().take(tasks).cloned().collect()
            }
            Pin::None => vec![Vec::new(); tasks],
        }
    }

    fn by_node(&self) -> BTreeMap<u32, Vec<u32>> {
        let mut nodes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for place in &self.0 {
            nodes.entry(place.node).or_default().push(place.cpu);
        }
        nodes
    }
}

/// Returns the processors on which this thread may run, in ascending order.
pub(crate) fn allowed() -> Vec<u32> {
    affinity(0).map_or_else(|_| vec![0], |set| set.iter().map(|cpu| cpu.0).collect())
}

/// Confines the calling thread to these processors. An empty list confines it to none in
/// particular.
pub(crate) fn pin(cpus: &[u32]) -> Result<(), Refusal> {
    if cpus.is_empty() {
        return Ok(());
    }
    confine(cpus.iter().copied().map(CpuId))
        .map_err(|error| Refusal::of("sched_setaffinity", &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two nodes with two cores each, and two hardware threads on each core. They are numbered as
    /// Linux often does: the numbers of siblings are 4 apart.
    fn eight() -> Cpus {
        let place = |cpu: u32| {
            let (core, node) = (cpu % 4, cpu % 4 / 2);
            Processor { cpu, socket: node, node, group: node, core }
        };
        Cpus((0..8).map(place).collect())
    }

    fn first_of(pin: Pin, tasks: u32) -> Vec<u32> {
        eight().seats(pin, tasks).iter().map(|cpus| cpus[0]).collect()
    }

    #[test]
    fn cores_come_before_their_second_threads_and_siblings_together() {
        assert_eq!(first_of(Pin::Core, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(first_of(Pin::Sibling, 8), [0, 4, 1, 5, 2, 6, 3, 7]);
        assert_eq!(eight().seats(Pin::Core, 3).concat(), [0, 1, 2]);
    }

    #[test]
    fn nodes_are_dealt_in_turn_and_none_is_any() {
        let seats = eight().seats(Pin::Node, 3);
        assert_eq!(seats, [vec![0, 1, 4, 5], vec![2, 3, 6, 7], vec![0, 1, 4, 5]]);
        assert_eq!(eight().seats(Pin::None, 2), [Vec::<u32>::new(), Vec::new()]);
        assert_eq!(eight().nodes(), 2);
    }

    #[test]
    fn a_small_node_has_no_more_tasks_than_processors() {
        // Processors 0, 1, 4 and 5 are on one node, 2 on the other.
        let five = eight().0.into_iter().filter(|place| ![3, 6, 7].contains(&place.cpu));
        let seats = Cpus(five.collect()).seats(Pin::Node, 6);
        let small = |seat: &&Vec<u32>| **seat == [2];
        assert_eq!(seats[..5].iter().filter(small).count(), 1, "{seats:?}");
        assert_eq!(seats[5], seats[0]);
    }

    #[test]
    fn counts_are_powers_of_two_and_all() {
        assert_eq!(eight().default_counts(), [1, 2, 4, 8]);
        let six = Cpus(eight().0[..6].to_vec());
        assert_eq!(six.default_counts(), [1, 2, 4, 6]);
        assert_eq!(Cpus(eight().0[..1].to_vec()).default_counts(), [1]);
        assert_eq!(eight().few_counts(), [1, 4, 8]);
        assert_eq!([2, 1].map(|n| Cpus(eight().0[..n].to_vec()).few_counts().len()), [2, 1]);
    }

    #[test]
    fn this_process_may_run_somewhere() {
        let cpus = Cpus::of_this_process();
        assert!(cpus.count() >= 1 && cpus.nodes() >= 1);
        for pin in Pin::ALL {
            assert_eq!(pin.name().parse(), Ok(pin));
            assert_eq!(cpus.seats(pin, cpus.count()).len(), cpus.count() as usize);
        }
    }
}
