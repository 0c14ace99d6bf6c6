//! What is added up for a mapping, and what it costs under each placement.

use crate::{Node, Nodes};
use kilocore_platform::Cycles;
use kilocore_references::{PageNumber, ThreadId};

/// Ways to place pages. Each is simulated on the same references, but for [`Placement::Moved`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Each page lies with who uses it first, and stays. It is what Linux does for a program that asks
    /// for nothing.
    FirstTouch,
    /// Pages lie with each node in turn.
    Interleaved,
    /// Pages migrate as Linux balances memory.
    Migrated,
    /// Pages have copies as the balanced policy makes them.
    Replicated,
    /// The least that copies could have made of it, with pages at home where they are first used. Nobody
    /// can have it.
    Optimum,
    /// Each page lies where its references would have cost least. It is computed from the references of
    /// each node to it, and includes moving it there once.
    Moved,
}

impl Placement {
    /// All placements, in the order of the variants.
    pub const ALL: [Self; 6] = [
        Self::FirstTouch,
        Self::Interleaved,
        Self::Migrated,
        Self::Replicated,
        Self::Optimum,
        Self::Moved,
    ];
}

/// Cycles under each placement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PlacementCosts([u64; Placement::ALL.len()]);

impl PlacementCosts {
    /// What all references have cost under a placement, with all that was done for them.
    #[must_use]
    pub fn of(&self, placement: Placement) -> Cycles {
        Cycles(self.0[placement as usize])
    }

    pub(crate) fn add(&mut self, placement: Placement, cycles: u64) {
        self.0[placement as usize] += cycles;
    }

    pub(crate) fn set(&mut self, placement: Placement, cycles: u64) {
        self.0[placement as usize] = cycles;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

/// How many numbers of threads are told apart.
const TOLD_APART: usize = 4096;

/// A set of threads. Those whose numbers differ by a multiple of 4,096 are taken for one.
#[derive(Debug, Clone)]
pub(crate) struct Threads(Box<[u64; TOLD_APART / 64]>);

impl Default for Threads {
    fn default() -> Self {
        Self(Box::new([0; TOLD_APART / 64]))
    }
}

impl Threads {
    #[inline]
    pub(crate) fn insert(&mut self, ThreadId(thread): ThreadId) {
        let bit = thread as usize % TOLD_APART;
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    fn merge(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(word, more)| *word |= more);
    }
}

/// What a mapping's references amount to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sums {
    /// Pages that were used. A page that was given back and came again counts twice.
    pub(crate) pages: u64,
    /// The most pages that were in use at a time.
    pub(crate) most_pages: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// References that were remote under first touch.
    pub(crate) remote: u64,
    /// Reads and writes of pages that more than one node has used by then.
    pub(crate) shared_reads: u64,
    pub(crate) shared_writes: u64,
    pub(crate) nodes: Nodes,
    pub(crate) threads: Threads,
    /// That of [`Placement::Moved`] is set only in the end.
    pub(crate) costs: PlacementCosts,
    /// What better homes would save.
    pub(crate) move_gain: u64,
    /// By node: references to pages that have their best home there.
    pub(crate) references_by_home: Vec<u64>,
}

impl Sums {
    pub(crate) fn references(&self) -> u64 {
        self.reads + self.writes
    }

    /// Bytes of the pages that were used.
    pub(crate) fn bytes(&self) -> u64 {
        self.pages.saturating_mul(PageNumber::BYTES)
    }

    /// Bytes of the most pages that were in use at a time.
    pub(crate) fn bytes_at_a_time(&self) -> u64 {
        self.most_pages.saturating_mul(PageNumber::BYTES)
    }

    /// Pages with so many references have their best home there, and would save that much.
    pub(crate) fn belong(&mut self, home: Node, references: u64, gain: u64) {
        self.move_gain += gain;
        if self.references_by_home.len() <= home.index() {
            self.references_by_home.resize(home.index() + 1, 0);
        }
        self.references_by_home[home.index()] += references;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.pages += other.pages;
        // They may have been there together.
        self.most_pages += other.most_pages;
        self.reads += other.reads;
        self.writes += other.writes;
        self.remote += other.remote;
        self.shared_reads += other.shared_reads;
        self.shared_writes += other.shared_writes;
        self.nodes = other.nodes.iter().fold(self.nodes, Nodes::with);
        self.threads.merge(&other.threads);
        self.costs.merge(&other.costs);
        self.move_gain += other.move_gain;
        for (node, &references) in other.references_by_home.iter().enumerate() {
            self.belong(Node(node as u8), references, 0);
        }
    }
}
