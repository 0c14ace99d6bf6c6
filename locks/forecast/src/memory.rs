//! Work that memory limits: besides computing, threads fetch cache lines that no private cache
//! holds.
//!
//! The simulator serves the fetches ([`Sim::fetch`]). As on the machine, the work is therefore
//! limited by bandwidth, by latency, and by the number of misses that a core can have under way.
//! The program decides where the data lies. Most often the main thread fills it first, so that all
//! of it lies on one node.

use kilocore_machine::{Description, HardwareThread};
use kilocore_platform::{Cycles, NodeId, Platform};
use kilocore_sim::{Random, Sim};

/// On which nodes the data lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Each thread's part lies on the thread's own node, because the thread touched it first.
    Local,
    /// The data is spread over the nodes in use, because all threads touched it first, or because
    /// the kernel was told to spread it.
    Interleaved,
    /// All data lies on the first node, because the main thread touched it first.
    OneNode,
}

/// What a thread fetches in one round, besides computing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryUse {
    /// How many lines are fetched, on average.
    pub lines: f64,
    /// The number of fetches that a core has under way at a time. It is 1 if the address of each
    /// fetch comes from the data of the one before, and [`kilocore_sim::MOST_OVERLAP`] for streams.
    pub overlap: u32,
    /// Where the lines lie.
    pub placement: Placement,
    /// The size in KiB of the data that the threads go through again and again. The threads divide
    /// it among them. A thread finds as much of its part in the last-level cache as fits into its
    /// share of that cache. If `None`, everything comes from memory.
    pub footprint_kib: Option<f64>,
}

impl MemoryUse {
    /// A stream through data too large for any cache: `lines` lines each round.
    #[must_use]
    pub fn stream(lines: f64, placement: Placement) -> Self {
        Self { lines, overlap: kilocore_sim::MOST_OVERLAP, placement, footprint_kib: None }
    }
}

/// The most batches in which a round's lines are fetched. They are enough for the cores to take
/// turns at the memory, and few enough to be simulated quickly.
const MOST_BATCHES: u32 = 16;

/// A simulated thread's side of a [`MemoryUse`].
#[derive(Debug)]
pub(crate) struct Fetcher {
    usage: MemoryUse,
    /// How many nodes are in use. They are the first ones.
    nodes: u32,
    /// The node that the thread began on.
    own: NodeId,
    /// The node that the next batch of interleaved data lies on.
    next: u32,
    /// The share of the lines that the last-level cache holds.
    cached: f64,
    /// How long it takes to fetch one of the lines in that cache, in cycles.
    hit: f64,
}

impl Fetcher {
    /// Creates the fetcher of the calling thread. `cores` cores are in use.
    pub(crate) fn new(
        usage: MemoryUse,
        machine: &Description,
        cores: u32,
        random: &mut Random,
    ) -> Self {
        let nodes = (0..cores).map(|core| machine.location(HardwareThread(core)).node + 1).max();
        let nodes = nodes.unwrap_or(1);
        let hit = machine.caches.shared_hit_ns.value * machine.clock_ghz.value;
        Self {
            usage,
            nodes,
            own: Sim::node(),
            next: (random.uniform() * f64::from(nodes)) as u32,
            cached: cached_share(&usage, machine, cores, Sim::cpu().0),
            hit: hit / f64::from(usage.overlap.max(1)),
        }
    }

    /// Fetches `share` of one round's lines.
    pub(crate) fn fetch(&mut self, share: f64, random: &mut Random) {
        let lines = self.usage.lines * share;
        let hits = whole_number(lines * self.cached, random);
        Sim::work(Cycles((hits as f64 * self.hit).round() as u64));
        let misses = whole_number(lines * (1.0 - self.cached), random) as u32;
        let overlap = self.usage.overlap.max(1);
        // All batches are of equal size. None is smaller than the number of fetches under way at a
        // time, because a smaller batch takes as long.
        let batches = (misses / overlap).clamp(1, MOST_BATCHES);
        for batch in 0..batches {
            let lines = (misses + batch) / batches;
            let home = match self.usage.placement {
                Placement::Local => self.own,
                Placement::OneNode => NodeId(0),
                Placement::Interleaved => {
                    self.next = (self.next + 1) % self.nodes;
                    NodeId(self.next)
                }
            };
            Sim::fetch(home, lines, overlap);
        }
    }
}

/// The share of its data that a thread on `core` finds in its last-level cache. The thread has the
/// part of that cache that the other cores leave, and goes through its data in no particular order.
fn cached_share(usage: &MemoryUse, machine: &Description, cores: u32, core: u32) -> f64 {
    let Some(footprint) = usage.footprint_kib else { return 0.0 };
    let per_node = machine.topology.groups_per_node;
    let groups = (per_node / machine.caches.shared_per_node.max(1)).max(1);
    let cache_of = |core: u32| machine.location(HardwareThread(core)).group / groups;
    let mine = cache_of(core);
    let neighbours = (0..cores).filter(|&other| cache_of(other) == mine).count();
    let part = footprint * neighbours as f64 / f64::from(cores);
    (machine.caches.shared_kib.value / part.max(f64::MIN_POSITIVE)).min(1.0)
}

/// A random whole number whose mean is `mean`.
pub(crate) fn whole_number(mean: f64, random: &mut Random) -> usize {
    let whole = mean.floor();
    whole as usize + usize::from(random.uniform() < mean - whole)
}
