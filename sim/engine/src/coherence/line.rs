//! The state of one cache line.

use kilocore_platform::{Cycles, NodeId};

use crate::costs::Costs;
use crate::ids::{CacheId, SlotId, TaskId};

/// The owner of a line that no cache has to itself.
pub(super) const NOBODY: CacheId = CacheId(u32::MAX);

/// The slot of a line that is not of a region.
pub(super) const NO_SLOT: SlotId = SlotId(u32::MAX);

#[derive(Debug)]
pub(super) struct Line {
    /// The cache that holds the only, possibly modified copy.
    pub(super) owner: CacheId,
    /// The cache that has taken the line from an owner by a read, and has not written it yet. Then nobody is the owner, and
    /// it is the only sharer.
    pub(super) migrated_to: CacheId,
    pub(super) home: NodeId,
    /// How many private caches hold a copy.
    pub(super) sharers: u32,
    /// The frame of a region that it is of, if it is.
    pub(super) slot: SlotId,
    /// Nodes with a sharer. After an eviction it may name too many.
    pub(super) nodes: NodeSet,
    pub(super) busy_until: Cycles,
    /// Until when the owner has it at least.
    pub(super) held_until: Cycles,
    pub(super) transfers: u64,
    /// How long requests waited for their turn, all together.
    pub(super) queued: Cycles,
    pub(super) waiters: Vec<TaskId>,
}

impl Line {
    /// A line that no cache holds.
    pub(super) fn new(home: NodeId) -> Self {
        Self {
            owner: NOBODY,
            migrated_to: NOBODY,
            home,
            sharers: 0,
            slot: NO_SLOT,
            nodes: NodeSet::EMPTY,
            busy_until: Cycles(0),
            held_until: Cycles(0),
            transfers: 0,
            queued: Cycles(0),
            waiters: Vec::new(),
        }
    }

    /// The cache that has a copy which memory does not have, if there is one.
    #[inline(always)]
    pub(super) fn modified_in(&self) -> CacheId {
        if self.owner == NOBODY { self.migrated_to } else { self.owner }
    }

    pub(super) fn count_transfer(&mut self, queued: Cycles) {
        self.transfers += 1;
        self.queued += queued;
    }
}

/// A set of NUMA nodes, one bit for each.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeSet(u64);

impl NodeSet {
    pub(super) const EMPTY: Self = Self(0);

    pub(super) fn only(node: NodeId) -> Self {
        Self(1 << node.0)
    }

    pub(super) fn contains(self, node: NodeId) -> bool {
        self.0 >> node.0 & 1 != 0
    }

    pub(super) fn insert(&mut self, node: NodeId) {
        self.0 |= 1 << node.0;
    }

    /// How long a line takes to `to` from the nearest node of the set.
    pub(super) fn nearest(self, costs: &Costs, to: NodeId) -> Cycles {
        self.iter().map(|node| costs.between(node, to)).min().unwrap_or(Cycles(0))
    }

    /// How long a line takes to `to` from the farthest node of the set.
    pub(super) fn farthest(self, costs: &Costs, to: NodeId) -> Cycles {
        self.iter().map(|node| costs.between(node, to)).max().unwrap_or(Cycles(0))
    }

    fn iter(self) -> impl Iterator<Item = NodeId> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let node = NodeId(rest.trailing_zeros());
                rest &= rest - 1;
                node
            })
        })
    }
}
