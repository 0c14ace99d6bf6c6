//! Where requests queue: the directories, memory channels and links of the nodes.

use kilocore_platform::{Cycles, NodeId};

use crate::costs::Costs;
use crate::ids::Id;
use crate::table::Table;

/// Until when each of them is busy.
#[derive(Debug)]
pub(super) struct Queues {
    directories: Table<NodeId, Cycles>,
    channels: Table<NodeId, Cycles>,
    /// The way of memory's lines between nodes, `[from * nodes + home]`.
    links: Vec<Cycles>,
}

impl Queues {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            directories: vec![Cycles(0); nodes].into(),
            channels: vec![Cycles(0); nodes].into(),
            links: vec![Cycles(0); nodes * nodes],
        }
    }

    /// When a request that arrives at `now` has passed the directory of a node.
    pub(super) fn pass_directory(&mut self, costs: &Costs, node: NodeId, now: Cycles) -> Cycles {
        take_turn(&mut self.directories[node], now, costs.home_service)
    }

    /// When it is a request's turn at the channels of `home`, which then carry one line.
    pub(super) fn pass_channel(&mut self, costs: &Costs, home: NodeId, now: Cycles) -> Cycles {
        take_turn(&mut self.channels[home], now, costs.memory_service())
    }

    /// When it is the turn of a batch of lines for a core of `from` that asks at `now`. The batch
    /// keeps the channels of `home` busy, and the link to it if it is to be used.
    pub(super) fn pass_batch(
        &mut self,
        from: NodeId,
        home: NodeId,
        now: Cycles,
        on_channel: Cycles,
        on_link: Option<Cycles>,
    ) -> Cycles {
        let nodes = self.channels.len();
        // Whoever waits for the link does not hold up the channels meanwhile: they serve the lines
        // of others first.
        let passes = on_link.map_or(now, |on_link| {
            take_turn(&mut self.links[from.index() * nodes + home.index()], now, on_link)
        });
        take_turn(&mut self.channels[home], now, on_channel).max(passes)
    }
}

/// Waits from `now` until the queue is free and keeps it busy for `service`. Returns when that
/// begins.
#[inline]
fn take_turn(busy_until: &mut Cycles, now: Cycles, service: Cycles) -> Cycles {
    let turn = now.max(*busy_until);
    *busy_until = turn + service;
    turn
}
