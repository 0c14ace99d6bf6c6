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

use super::line::NO_SLOT;
use super::{Coherence, Place};
use crate::costs::Costs;
use crate::ids::{CacheId, DomainId, Id, LineId};
use kilocore_platform::{Cycles, NodeId};

/// Lines that a node's memory has to carry.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Carried {
    pub(super) read: u32,
    pub(super) written: u32,
}

impl Coherence {
    /// Puts a line into the caches of a core that has got it.
    pub(super) fn fill_layered(&mut self, line: LineId, here: Place) {
        if self.holds_private {
            self.enter_shared(line, here.domain);
        }
        self.enter_private(line, here);
        if !self.holds_private {
            self.leave_shared(line, here.domain);
        }
    }

    /// Takes a line that a core is about to write out of all other caches.
    pub(super) fn take_from_others(&mut self, line: LineId, here: Place) {
        self.written[line] = true;
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
            self.frames.loses_place(slot);
        }
    }

    /// Sends what was written and has left all caches to memory, and forgets what was read.
    pub(super) fn write_back(&mut self, costs: &Costs, from: NodeId, now: Cycles) {
        for home in self.carried.ids() {
            let Carried { written, .. } = std::mem::take(&mut self.carried[home]);
            if written > 0 {
                self.pass_batch(from, home, now, written, costs);
            }
        }
        self.to_write_back = false;
    }

    fn enter_private(&mut self, line: LineId, here: Place) {
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
        if !self.holds_private {
            self.sent_down += 1;
            self.enter_shared(line, domain);
        } else if self.written[line] {
            self.sent_down += 1;
            let key = self.key_of(line);
            self.shared[domain].renew(key, line);
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
        if self.holds_private {
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
            slot => self.frames.key(slot, line),
        }
    }

    #[inline]
    fn gain_place(&mut self, line: LineId) {
        let slot = self.lines[line].slot;
        if slot != NO_SLOT {
            self.frames.gains_place(slot);
        }
    }

    /// A line has lost its place in a cache. If no cache has a copy any more, what was written goes
    /// to memory.
    fn lose_place(&mut self, line: LineId) {
        let state = &self.lines[line];
        if state.sharers == 0 && self.written[line] && self.in_shared.is_empty(line) {
            self.written[line] = false;
            self.carried[state.home].written += 1;
            self.to_write_back = true;
        }
        let slot = state.slot;
        if slot != NO_SLOT && self.frames.loses_place(slot) {
            // A line that somebody watches has to stay the same.
            let watched = self.frames.lines(slot).any(|line| self.is_watched(line));
            if !watched {
                self.frames.release(slot);
            }
        }
    }
}
