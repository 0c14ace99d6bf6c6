//! Machines without caches, on which each reference goes to some node's memory.
//!
//! Whoever studies where pages should lie brings the memory along: an [`UncachedMemory`] is asked
//! about every reference, in simulated order, and says how long the core waits for it. No line is
//! ever in a cache then. All else stays as it is: fibers, clocks, waiting, the operating system.
//!
//! A waiter watches its word without references, and refers to it once each time that it has been
//! written. References of the simulated kernel are not shown to the memory. Words have eight bytes.

use std::fmt::Debug;

use kilocore_platform::{CpuId, Cycles};
use rustc_hash::FxHashMap;

use crate::ids::{CoreId, LineId, SimAddress};

/// What a core does to a word of at most eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceKind {
    /// A load of one word.
    Read,
    /// A store of one word.
    Write,
    /// An atomic read-modify-write of one word.
    ReadModifyWrite,
}

/// A reference to a word of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Who refers to it.
    pub core: CpuId,
    /// The first byte that is referred to.
    pub address: SimAddress,
    /// What is done there.
    pub kind: ReferenceKind,
    /// The time on the core's clock.
    pub now: Cycles,
}

/// The memory of a machine without caches.
///
/// References come in the order of simulated time, give or take the [`lookahead`](Self::lookahead).
pub trait UncachedMemory: Debug {
    /// Serves a reference. Returns how long the core waits for it.
    fn refer(&mut self, reference: Reference) -> Cycles;

    /// By how much a reference may come earlier than those of other cores that precede it in
    /// simulated time. A larger lookahead simulates faster; the machine could have had either order
    /// if it is less than the time that the cores take to learn of each other. By default there is
    /// none.
    fn lookahead(&self) -> Cycles {
        Cycles(0)
    }
}

/// The size of a word, as a power of two. It stands in the place of a line's size.
pub(crate) const WORD_SHIFT: u32 = 3;

/// What a simulation keeps of such a memory.
#[derive(Debug)]
pub(crate) struct Uncached {
    memory: Box<dyn UncachedMemory>,
    pub(crate) lookahead: Cycles,
    /// The addresses of words that have been watched. Only these have lines.
    pub(crate) watched: FxHashMap<LineId, usize>,
}

impl Uncached {
    pub(crate) fn new(memory: Box<dyn UncachedMemory>) -> Self {
        let lookahead = memory.lookahead();
        Self { memory, lookahead, watched: FxHashMap::default() }
    }

    /// Serves a reference of a core. Returns how long it waits.
    pub(crate) fn refer(
        &mut self,
        core: CoreId,
        address: usize,
        kind: ReferenceKind,
        now: Cycles,
    ) -> Cycles {
        let reference = Reference { core: CpuId(core.0), address: SimAddress(address), kind, now };
        self.memory.refer(reference)
    }
}
