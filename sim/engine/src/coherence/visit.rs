//! Lines that a core touches as a block: where each one is, and what becomes of it.

use kilocore_platform::{Cycles, NodeId};

use super::layers::Carried;
use super::line::NOBODY;
use super::{Access, Coherence, CoreLocation};
use crate::costs::Costs;
use crate::found::Found;
use crate::ids::LineId;

/// What a batch of lines has met.
#[derive(Debug, Default)]
pub(crate) struct Visit {
    pub(crate) found: Found,
    /// The latencies of all lines that the core did not have, one after the other.
    pub(crate) latencies: Cycles,
    /// The largest of them.
    pub(crate) farthest: Cycles,
    /// Lines that had to leave the core's own caches for the last-level cache.
    pub(crate) sent_down: u32,
    /// When the last of the lines is no longer busy with others' requests.
    pub(crate) turn: Cycles,
    /// How long the lines from memory take on the slowest channel or link.
    pub(crate) on_channel: Cycles,
}

/// Where a line is, seen from a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Own,
    Shared,
    OtherCore { remote: bool },
    Memory { home: NodeId, remote: bool },
}

impl Coherence {
    /// Touches a line as one of a batch that begins at `now`.
    pub(crate) fn visit(
        &mut self,
        costs: &Costs,
        line: LineId,
        here: CoreLocation,
        access: Access,
        now: Cycles,
        visit: &mut Visit,
    ) {
        let reads = access == Access::Read;
        let owned = self.lines[line].owner == here.cache;
        if owned || self.hits(line, here.cache, Access::Read) {
            visit.found.own += 1;
            if !reads && !owned {
                visit.wait(self.others_give_up(costs, line, here));
                self.take(line, here);
            }
            let key = self.key_of(line);
            self.private[here.cache].renew(key, line);
            return;
        }
        let (level, latency) = self.locate(costs, line, here);
        visit.found.count(level);
        if let Level::Memory { home, .. } = level {
            self.layers().carried[home].read += 1;
        }
        let busy = match level {
            // Neither the line nor its home has anything to do with it.
            Level::Shared if reads && self.is_found_below(costs, line) => None,
            _ if reads => Some(self.read_service(costs, line, latency)),
            _ => Some(latency),
        };
        if let Some(busy) = busy {
            let state = &mut self.lines[line];
            visit.turn = visit.turn.max(state.busy_until);
            state.busy_until = state.busy_until.max(now + busy);
        } else if let Some(arrival) = self.copies.since(line, here.domain) {
            visit.turn = visit.turn.max(arrival);
        }
        visit.wait(latency);
        if reads {
            self.share(costs, line, here, now + latency);
        } else {
            self.take(line, here);
        }
        self.fill_layered(line, here);
    }

    /// Whether the last-level cache that has a clean line gives it to a core without asking the home.
    fn is_found_below(&self, costs: &Costs, line: LineId) -> bool {
        costs.finds_copies || self.lines[line].sharers == 0
    }

    /// The end of a batch: lets its lines pass the memory's channels, and returns when it is the
    /// batch's turn.
    pub(crate) fn finish_visit(
        &mut self,
        costs: &Costs,
        from: NodeId,
        now: Cycles,
        visit: &mut Visit,
    ) -> Cycles {
        visit.sent_down = std::mem::take(&mut self.layers().sent_down);
        let mut turn = now.max(visit.turn);
        if visit.found.memory == 0 && !self.layers().to_write_back {
            return turn;
        }
        for home in self.layers().carried.ids() {
            let Carried { read, .. } = self.layers().carried[home];
            if read > 0 {
                turn = turn.max(self.pass_batch(from, home, now, read, costs));
                visit.on_channel = visit.on_channel.max(costs.stream(from, home, read));
            }
        }
        self.write_back(costs, from, now);
        turn
    }

    /// Where the line at an address is, without touching it.
    pub(crate) fn look(
        &self,
        costs: &Costs,
        address: usize,
        here: CoreLocation,
        found: &mut Found,
    ) {
        let key = address >> costs.line_shift;
        let in_memory = |home| Level::Memory { home, remote: home != here.node };
        let frames = self.layers.as_ref().map(|layers| &layers.frames);
        let line = match frames.and_then(|frames| Some((frames, frames.find(key)?))) {
            Some((frames, (frame, offset))) => match frames.first_line(frame) {
                Some(first) => LineId(first.0 + offset),
                None => return found.count(in_memory(frames.home(frame))),
            },
            None => match self.numbers.known(key) {
                Some(line) => line,
                None => return found.count(in_memory(here.node)),
            },
        };
        if self.hits(line, here.cache, Access::Read) {
            found.count(Level::Own);
        } else {
            found.count(self.locate(costs, line, here).0);
        }
    }

    /// Where a line is that the core does not have, and how long it takes to come.
    fn locate(&self, costs: &Costs, line: LineId, here: CoreLocation) -> (Level, Cycles) {
        let state = &self.lines[line];
        let modified = state.modified_in();
        if modified != NOBODY {
            let owner = self.places[modified];
            let remote = owner.node != here.node;
            return (Level::OtherCore { remote }, costs.transfer(owner, here));
        }
        let in_shared = self.in_shared.contains(line, here.domain);
        if state.sharers > 0 {
            if in_shared || self.copies.since(line, here.domain).is_some() {
                return (Level::Shared, costs.copy_in_node());
            }
            if state.nodes.contains(here.node) {
                return (Level::OtherCore { remote: false }, costs.same_node);
            }
            return (Level::OtherCore { remote: true }, state.nodes.nearest(costs, here.node));
        }
        if in_shared {
            return (Level::Shared, costs.shared_hit);
        }
        let home = state.home;
        (Level::Memory { home, remote: home != here.node }, costs.memory(here.node, home))
    }
}

impl Visit {
    fn wait(&mut self, latency: Cycles) {
        self.latencies += latency;
        self.farthest = self.farthest.max(latency);
    }
}

impl Found {
    fn count(&mut self, level: Level) {
        match level {
            Level::Own => self.own += 1,
            Level::Shared => self.shared += 1,
            Level::OtherCore { remote } => {
                self.other_core += 1;
                self.other_node_core += u32::from(remote);
            }
            Level::Memory { remote, .. } => {
                self.memory += 1;
                self.other_node_memory += u32::from(remote);
            }
        }
    }
}
