//! What a memory can be told.

use thiserror::Error;

use crate::costs::Costs;
use crate::tlb::TlbOptions;
use crate::units::{Node, Processor};

/// How copies of a page are kept the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coherence {
    /// A write is sent to all copies, as in the paper.
    WriteUpdate,
    /// A write takes all copies away but the writer's and the one in the page's home, which are
    /// written.
    WriteInvalidate,
}

/// Where a page lies at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Start {
    /// With the processor that refers to it first.
    FirstTouch,
    /// With each node in turn. Pages that a program keeps for one processor lie with that one.
    RoundRobin,
}

/// A machine, and how it treats pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How many memory nodes there are: 1 to 64.
    pub nodes: u32,
    /// How many processors each of them has: at least 1, and no more than 1,024 in all.
    pub processors_per_node: u32,
    /// How long things take.
    pub costs: Costs,
    /// How copies are kept the same.
    pub coherence: Coherence,
    /// Where pages lie at first.
    pub start: Start,
    /// On how many nodes a page may be, its home among them: at least 1.
    pub most_copies: u32,
    /// Translation buffers, in which the counters are. Without them, the counters of all pages are at
    /// hand and have 32 bits.
    pub tlb: Option<TlbOptions>,
    /// The seed of all pseudorandom numbers.
    pub seed: u64,
}

/// Why there can be no such machine.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OptionsError {
    /// No node, or too many.
    #[error("a machine of {0} memory nodes: there are 1 to 64")]
    Nodes(u32),
    /// No processor, or too many.
    #[error("{0} processors: there is at least one for each node, and there are at most 1024")]
    Processors(u64),
    /// A page has to be somewhere.
    #[error("a page is on at least one node")]
    Copies,
    /// The table of distances does not fit the number of nodes.
    #[error(
        "a table of {0} remote reads for {1} nodes: there is one for all, or one for each pair"
    )]
    Distances(usize, u32),
    /// A translation buffer that holds nothing, or counters without bits.
    #[error("a translation buffer has 1 to 65535 entries, and counters of 1 to 32 bits")]
    Tlb,
    /// A reference has to take some time, since all costs are in terms of that.
    #[error("a local reference takes at least one cycle")]
    Local,
}

impl Options {
    /// A machine as in the paper, each of whose processors is a node.
    #[must_use]
    pub fn lee_and_cho(processors: u32) -> Self {
        Self {
            nodes: processors,
            processors_per_node: 1,
            costs: Costs::lee_and_cho(),
            coherence: Coherence::WriteUpdate,
            start: Start::FirstTouch,
            most_copies: 64,
            tlb: None,
            seed: 1,
        }
    }

    /// How many processors there are.
    #[must_use]
    pub fn processors(&self) -> u32 {
        self.nodes * self.processors_per_node
    }

    /// The node of a processor.
    #[must_use]
    #[inline]
    pub fn node_of(&self, processor: Processor) -> Node {
        Node((processor.0 / self.processors_per_node) as u8)
    }

    /// Whether there can be such a machine.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), OptionsError> {
        if !(1..=64).contains(&self.nodes) {
            return Err(OptionsError::Nodes(self.nodes));
        }
        let processors = u64::from(self.nodes) * u64::from(self.processors_per_node);
        if !(1..=1024).contains(&processors) {
            return Err(OptionsError::Processors(processors));
        }
        if self.most_copies == 0 {
            return Err(OptionsError::Copies);
        }
        let pairs = self.costs.remote_read.len();
        if pairs != 1 && pairs != (self.nodes * self.nodes) as usize {
            return Err(OptionsError::Distances(pairs, self.nodes));
        }
        if self.costs.local.0 == 0 {
            return Err(OptionsError::Local);
        }
        self.tlb.is_none_or(TlbOptions::makes_sense).then_some(()).ok_or(OptionsError::Tlb)
    }
}
