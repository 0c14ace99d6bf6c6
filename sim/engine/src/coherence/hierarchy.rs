//! How the caches above each other agree on what they hold, in simulations that touch blocks.
//!
//! Where single words are all that matters, it is enough that a line gets a place in each cache that
//! it comes through. Whoever touches whole pages fills the caches, and what becomes of the lines that
//! have to leave decides what the next page costs. So from the first region or block on, the caches
//! of a simulation follow the rules of hardware:
//!
//! * A last-level cache that holds all that its cores hold (an inclusive one) takes a line from their
//!   caches when the line leaves it. One that does not takes the lines that leave theirs, and gives a
//!   line away that one of them takes.
//! * A write takes the line out of all other caches, whose places are then the next to be filled.
//! * What was written goes to memory when the last copy leaves the caches. It uses the channels of
//!   the line's home then. Nobody waits for it, but who reads afterwards queues behind it.
//!
//! Simulations without blocks do none of that. So whatever they were known to show stays as it was.

use kilocore_platform::{Cycles, NodeId};

use super::frames::Frame;
use super::layers::{Carried, Layers};
use super::line::{Line, NO_SLOT};
use super::{Coherence, CoreLocation};
use crate::costs::Costs;
use crate::ids::{CacheId, DomainId, Id, LineId};

/// Regions, and the beginning.
impl Coherence {
    /// Lets the caches keep each other's rules from now on.
    #[inline]
    pub(crate) fn become_layered(&mut self, costs: &Costs) {
        if self.layers.is_none() {
            self.layers = Some(Box::new(Layers::new(costs, self.lines.len())));
        }
    }

    /// Adds memory that has no bytes on the host, and returns its address.
    pub(crate) fn add_region(&mut self, costs: &Costs, bytes: usize, home: NodeId) -> usize {
        self.become_layered(costs);
        self.layers().frames.add_region(bytes, home)
    }

    /// The line at an address of a block. A new one has its home on `node`, if it is not of a region.
    #[inline]
    pub(crate) fn line_of_block(
        &mut self,
        address: usize,
        line_shift: u32,
        node: NodeId,
    ) -> LineId {
        let of_region = self.line_of_region(address >> line_shift);
        of_region.unwrap_or_else(|| self.line_at(address, line_shift, node))
    }

    /// The line at an address of a region over the line's size. `None` if it is not of a region.
    #[inline]
    pub(super) fn line_of_region(&mut self, key: usize) -> Option<LineId> {
        let frames = &self.layers.as_ref()?.frames;
        let (frame, offset) = frames.find(key)?;
        let first = frames.first_line(frame).unwrap_or_else(|| self.bind(frame));
        Some(LineId(first.0 + offset))
    }

    /// Gives a frame of a region lines, and returns the first.
    fn bind(&mut self, frame: Frame) -> LineId {
        let fresh = self.lines.next_id();
        let frames = &mut self.layers().frames;
        let (slot, first, new) = frames.bind(frame, fresh);
        let home = frames.home(frame);
        for line in frames.lines(slot) {
            let state = Line { slot, ..Line::new(home) };
            if new {
                self.push_line(state);
            } else {
                self.lines[line] = state;
            }
        }
        first
    }
}

/// Lines on their way between caches.
impl Coherence {
    /// Puts a line into the caches of a core that has got it.
    #[inline(never)]
    pub(super) fn fill_layered(&mut self, line: LineId, here: CoreLocation) {
        let holds_private = self.layers().holds_private;
        if holds_private {
            self.enter_shared(line, here.domain);
        }
        self.enter_private(line, here);
        if !holds_private {
            self.leave_shared(line, here.domain);
        }
    }

    /// What filling the caches with a single line has led to.
    #[inline(never)]
    pub(super) fn finish_fill(&mut self, costs: &Costs, from: NodeId, now: Cycles) {
        self.layers().sent_down = 0;
        if self.layers().to_write_back {
            self.write_back(costs, from, now);
        }
    }

    /// Takes a line that a core is about to write out of all other caches.
    #[inline]
    pub(super) fn take_from_others(&mut self, line: LineId, here: CoreLocation) {
        self.layers().written[line] = true;
        let elsewhere = self.in_private.has_others(line, here.cache)
            || self.in_shared.has_others(line, here.domain);
        if elsewhere {
            self.take_places(line, here);
        }
    }

    #[cold]
    fn take_places(&mut self, line: LineId, here: CoreLocation) {
        // The slot stays with its frame even if the line has no place for a moment. The writer's
        // cache is about to give it one.
        self.gain_place(line);
        let mut from = 0;
        while let Some(cache) = self.in_private.next(line, from) {
            from = cache.index() + 1;
            if cache != here.cache {
                self.lose_private_place(line, cache);
            }
        }
        let mut from = 0;
        while let Some(domain) = self.in_shared.next(line, from) {
            from = domain.index() + 1;
            if domain != here.domain {
                self.leave_shared(line, domain);
            }
        }
        let slot = self.lines[line].slot;
        if slot != NO_SLOT {
            self.layers().frames.loses_place(slot);
        }
    }

    /// Sends what was written and has left all caches to memory, and forgets what was read.
    pub(super) fn write_back(&mut self, costs: &Costs, from: NodeId, now: Cycles) {
        for home in self.layers().carried.ids() {
            let Carried { written, .. } = std::mem::take(&mut self.layers().carried[home]);
            if written > 0 {
                self.pass_batch(from, home, now, written, costs);
            }
        }
        self.layers().to_write_back = false;
    }

    fn enter_private(&mut self, line: LineId, here: CoreLocation) {
        let cache = here.cache;
        let key = self.key_of(line);
        if self.in_private.contains(line, cache) {
            self.private[cache].renew(key, line);
            return;
        }
        self.in_private.insert(line, cache);
        self.gain_place(line);
        let Some(evicted) = self.private[cache].insert_by(key, line) else { return };
        self.in_private.remove(evicted, cache);
        let valid = self.sharers.contains(evicted, cache);
        self.evict(evicted, cache);
        if valid {
            self.move_down(evicted, here.domain);
        }
        self.lose_place(evicted);
    }

    /// A line has left the caches of a core for the last-level cache.
    fn move_down(&mut self, line: LineId, domain: DomainId) {
        let layers = self.layers();
        if !layers.holds_private {
            layers.sent_down += 1;
            self.enter_shared(line, domain);
        } else if layers.written[line] {
            // That does not count as a use of it there, as simulators of replacement have it
            // (ChampSim, for one).
            layers.sent_down += 1;
        }
    }

    fn enter_shared(&mut self, line: LineId, domain: DomainId) {
        if !self.shared[domain].has_room() {
            return;
        }
        let key = self.key_of(line);
        if self.in_shared.contains(line, domain) {
            self.shared[domain].renew(key, line);
            return;
        }
        self.in_shared.insert(line, domain);
        self.gain_place(line);
        let Some(evicted) = self.shared[domain].insert_by(key, line) else { return };
        self.in_shared.remove(evicted, domain);
        if self.layers().holds_private {
            self.take_from_cores(evicted, domain);
        }
        self.lose_place(evicted);
    }

    fn leave_shared(&mut self, line: LineId, domain: DomainId) {
        if self.in_shared.contains(line, domain) {
            let key = self.key_of(line);
            self.in_shared.remove(line, domain);
            self.shared[domain].remove(key, line);
            self.lose_place(line);
        }
    }

    /// Takes a line that has left a last-level cache from the cores below it.
    fn take_from_cores(&mut self, line: LineId, domain: DomainId) {
        let mut from = 0;
        while let Some(cache) = self.in_private.next(line, from) {
            from = cache.index() + 1;
            if self.places[cache].domain == domain {
                self.evict(line, cache);
                self.lose_private_place(line, cache);
            }
        }
    }

    fn lose_private_place(&mut self, line: LineId, cache: CacheId) {
        let key = self.key_of(line);
        self.private[cache].remove(key, line);
        self.in_private.remove(line, cache);
        self.lose_place(line);
    }

    /// By what a line finds its set in a cache.
    #[inline]
    pub(super) fn key_of(&self, line: LineId) -> usize {
        match self.lines[line].slot {
            NO_SLOT => line.index(),
            slot => self.layers.as_ref().map_or(0, |layers| layers.frames.key(slot, line)),
        }
    }

    #[inline]
    fn gain_place(&mut self, line: LineId) {
        let slot = self.lines[line].slot;
        if slot != NO_SLOT {
            self.layers().frames.gains_place(slot);
        }
    }

    /// A line has lost its place in a cache. If no cache has a copy any more, what was written goes
    /// to memory.
    fn lose_place(&mut self, line: LineId) {
        let Line { sharers, home, slot, .. } = self.lines[line];
        let gone = sharers == 0 && self.in_shared.is_empty(line);
        let layers = self.layers();
        if gone && layers.written[line] {
            layers.written[line] = false;
            layers.carried[home].written += 1;
            layers.to_write_back = true;
        }
        if slot != NO_SLOT && layers.frames.loses_place(slot) {
            // Who watches a line knows it by the number that it has with this slot.
            let mut lines = self.layers().frames.lines(slot);
            if lines.all(|line| self.lines[line].waiters.is_empty()) {
                self.layers().frames.release(slot);
            }
        }
    }

    #[inline]
    pub(super) fn layers(&mut self) -> &mut Layers {
        self.layers.as_deref_mut().expect("the caches keep each other's rules")
    }
}
