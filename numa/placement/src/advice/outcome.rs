//! What came out: the program as a whole, and a row for each mapping.

use crate::Node;
use kilocore_platform::Cycles;

use crate::advice::kind::MemoryKind;
use crate::advice::sums::{Placement, PlacementCosts};
use crate::advice::verdict::Verdict;

/// What is known of a program's memory on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Threads of the program that were seen.
    pub threads: u32,
    /// How often a thread forked a process, which was not seen.
    pub forks: u64,
    /// Whether the program asked to be replaced by another one, which was not seen.
    pub replaced: bool,
    /// What a reference to the node's own memory costs.
    pub local: Cycles,
    /// What all references have cost under each placement.
    pub costs: PlacementCosts,
    /// By node: how many references its memory serves under first touch.
    pub loads: Vec<u64>,
    /// The mappings: those with something to gain first, by gain; then the others, by cost.
    pub mappings: Vec<MappingAdvice>,
}

/// What is known of a mapping, or of several mappings or blocks that share a row.
#[derive(Debug, Clone, PartialEq)]
pub struct MappingAdvice {
    /// What kind of memory the row is about, which names it.
    pub kind: MemoryKind,
    /// How many mappings or blocks the row has.
    pub mappings: u64,
    /// The bytes of the smallest of them.
    pub smallest: u64,
    /// The bytes of the largest of them.
    pub largest: u64,
    /// Whether any of it was still mapped at the end.
    pub mapped: bool,
    /// Bytes of the pages that were used. Pages that were given back and came again count twice.
    pub touched_bytes: u64,
    /// How many loads referred to it.
    pub reads: u64,
    /// How many stores referred to it.
    pub writes: u64,
    /// How many nodes used it.
    pub nodes: u32,
    /// How many threads used it. Beyond 4,096 threads it may be too low.
    pub threads: u32,
    /// References that went to another node's memory under first touch.
    pub remote: u64,
    /// Loads from pages that more than one node had used by then.
    pub shared_reads: u64,
    /// Stores to such pages.
    pub shared_writes: u64,
    /// What its references have cost under each placement.
    pub costs: PlacementCosts,
    /// What to do about it.
    pub verdict: Verdict,
}

impl Advice {
    /// How many references there were to all mappings: loads and stores.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.mappings.iter().map(MappingAdvice::references).sum()
    }

    /// The normalized average memory access cost of the program under a placement: 1 if all references
    /// are local and nothing else is done. `None` without references.
    #[must_use]
    pub fn namc(&self, placement: Placement) -> Option<f64> {
        namc(self.costs.of(placement), self.references(), self.local)
    }

    /// The same for one of its mappings.
    #[must_use]
    pub fn namc_of(&self, mapping: &MappingAdvice, placement: Placement) -> Option<f64> {
        namc(mapping.costs.of(placement), mapping.references(), self.local)
    }

    /// The node whose memory serves most references under first touch, and its share of them.
    #[must_use]
    pub fn busiest(&self) -> Option<(Node, f64)> {
        let all: u64 = self.loads.iter().sum();
        let (node, &load) = self.loads.iter().enumerate().max_by_key(|(_, load)| **load)?;
        (all > 0).then(|| (Node(node as u8), load as f64 / all as f64))
    }

    /// What all gains would come to, if each could be had beside the others: a share of what all memory
    /// costs under first touch, 0 to 1.
    #[must_use]
    pub fn share_to_gain(&self) -> f64 {
        self.mappings.iter().filter_map(|mapping| mapping.verdict.gain()).map(|it| it.share).sum()
    }
}

impl MappingAdvice {
    /// How many references there were: loads and stores.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.reads + self.writes
    }

    /// The share of loads: 0 to 1. Not a number without references.
    #[must_use]
    pub fn read_share(&self) -> f64 {
        self.reads as f64 / self.references() as f64
    }

    /// The share of references that are remote under first touch: 0 to 1. Not a number without
    /// references.
    #[must_use]
    pub fn remote_share(&self) -> f64 {
        self.remote as f64 / self.references() as f64
    }
}

fn namc(cost: Cycles, references: u64, local: Cycles) -> Option<f64> {
    (references > 0).then(|| cost.0 as f64 / (references as f64 * local.0 as f64))
}
