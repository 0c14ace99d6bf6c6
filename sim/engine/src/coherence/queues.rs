//! Where requests queue: the directories, memory channels and links of the nodes.
//!
//! Requests mostly come in the order of time. Cores that may [run ahead](crate::guests) of one another make
//! some that are earlier than one which was served already. Such a request takes the first gap that the
//! server had, so that it waits for those that had the server at its time and for no later ones.

use std::collections::VecDeque;

use kilocore_platform::{Cycles, NodeId};

use crate::costs::Costs;
use crate::ids::Id;
use crate::table::Table;

/// Until when each of them is busy.
#[derive(Debug)]
pub(super) struct Queues {
    directories: Table<NodeId, Server>,
    channels: Table<NodeId, Server>,
    /// The way of memory's lines between nodes, `[from * nodes + home]`.
    links: Vec<Server>,
    /// How much earlier a request may be than one that was served before it.
    disorder: Cycles,
}

/// Something that serves one request at a time.
#[derive(Debug, Clone, Default)]
struct Server {
    busy_until: Cycles,
    /// When it had nothing to do, earliest first, as far back as a request may still come from.
    gaps: VecDeque<(Cycles, Cycles)>,
}

impl Queues {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            directories: vec![Server::default(); nodes].into(),
            channels: vec![Server::default(); nodes].into(),
            links: vec![Server::default(); nodes * nodes],
            disorder: Cycles(0),
        }
    }

    /// Lets requests be so much earlier than ones that were served before them.
    pub(super) fn allow_disorder(&mut self, most: Cycles) {
        self.disorder = most;
    }

    /// How much earlier a request may be than one that was served before it.
    pub(super) fn disorder(&self) -> Cycles {
        self.disorder
    }

    /// When a request that arrives at `now` has passed the directory of a node.
    pub(super) fn pass_directory(&mut self, costs: &Costs, node: NodeId, now: Cycles) -> Cycles {
        self.directories[node].take_turn(now, costs.home_service, self.disorder)
    }

    /// When it is a request's turn at the channels of `home`, which then carry one line.
    pub(super) fn pass_channel(&mut self, costs: &Costs, home: NodeId, now: Cycles) -> Cycles {
        self.channels[home].take_turn(now, costs.memory_service(), self.disorder)
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
            let link = &mut self.links[from.index() * nodes + home.index()];
            link.take_turn(now, on_link, self.disorder)
        });
        self.channels[home].take_turn(now, on_channel, self.disorder).max(passes)
    }
}

impl Server {
    /// Waits from `now` until the server is free and keeps it busy for `service`. Returns when that
    /// begins.
    #[inline]
    fn take_turn(&mut self, now: Cycles, service: Cycles, disorder: Cycles) -> Cycles {
        if disorder.0 > 0
            && let Some(turn) = self.take_gap(now, service, disorder)
        {
            return turn;
        }
        let turn = now.max(self.busy_until);
        self.busy_until = turn + service;
        turn
    }

    /// Serves a request in a gap, if one is long enough. Remembers the gap that one leaves which is later than
    /// all others.
    fn take_gap(&mut self, now: Cycles, service: Cycles, disorder: Cycles) -> Option<Cycles> {
        if now > self.busy_until {
            self.gaps.push_back((self.busy_until, now));
            while self.gaps.front().is_some_and(|&(_, end)| end + disorder < now) {
                self.gaps.pop_front();
            }
            return None;
        }
        let fits = |&(start, end): &(Cycles, Cycles)| end.since(start.max(now)) >= service;
        let at = self.gaps.iter().position(fits)?;
        let (start, end) = self.gaps[at];
        let turn = start.max(now);
        let rests = [(start, turn), (turn + service, end)];
        let mut rests = rests.into_iter().filter(|(start, end)| start < end);
        match rests.next() {
            Some(rest) => self.gaps[at] = rest,
            None => drop(self.gaps.remove(at)),
        }
        if let Some(rest) = rests.next() {
            self.gaps.insert(at + 1, rest);
        }
        Some(turn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATEST: Cycles = Cycles(1000);

    #[test]
    fn requests_in_order_wait_for_one_another() {
        for disorder in [Cycles(0), LATEST] {
            let mut server = Server::default();
            let turns = [(0, 0), (5, 10), (8, 20), (100, 100), (100, 110)];
            for (now, turn) in turns {
                assert_eq!(server.take_turn(Cycles(now), Cycles(10), disorder), Cycles(turn));
            }
        }
    }

    #[test]
    fn an_earlier_request_takes_the_first_gap_that_fits() {
        let mut server = Server::default();
        let mut turn = |now, service| server.take_turn(Cycles(now), Cycles(service), LATEST).0;
        assert_eq!(turn(50, 10), 50);
        assert_eq!(turn(100, 10), 100);
        // The gaps are those before 50, and from 60 to 100.
        assert_eq!(turn(45, 10), 60);
        assert_eq!(turn(0, 10), 0);
        assert_eq!(turn(55, 30), 70);
        assert_eq!(turn(55, 1), 110);
        // Nobody comes from so long ago any more.
        assert_eq!(turn(10_000, 10), 10_000);
        assert_eq!(turn(20, 10), 111);
    }
}
