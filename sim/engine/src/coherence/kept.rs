//! Lines that a core has still, although another one has asked for them.
//!
//! A request takes a while to reach the core that has the line: to the line's home, and from there. Until then that core
//! goes on as if nothing had happened, so one that updates a word again and again does so a few times before the
//! line leaves. Elsewhere in this crate an owner loses its line at the moment of the request: tasks that are simulated
//! ask for a line that is wanted by others once, and then do something else. Programs may do anything.

use kilocore_platform::Cycles;

use crate::ids::{CacheId, LineId};
use crate::table::Table;

/// The parts of a transfer: to the home, from there to the owner, and back, with the line, by way of the home. Estimated:
/// they take the same time.
const PARTS: u64 = 4;

/// Lines that a core keeps at a time. If there are more, the oldest are gone at once.
const LINES: usize = 8;

/// What each core keeps.
#[derive(Debug)]
pub(super) struct Kept(Table<CacheId, Few>);

/// Some lines, and until when a core keeps them.
#[derive(Debug, Clone, Copy)]
struct Few {
    lines: [(LineId, Cycles); LINES],
    next: usize,
}

impl Kept {
    pub(super) fn new(caches: usize) -> Self {
        let none = Few { lines: [(LineId(u32::MAX), Cycles(0)); LINES], next: 0 };
        Self(vec![none; caches].into())
    }

    /// Whether a core has a line still at this time.
    pub(super) fn has(&self, line: LineId, cache: CacheId, now: Cycles) -> bool {
        self.0[cache].lines.iter().any(|&(kept, until)| kept == line && now < until)
    }

    /// Another core asks for a line. Who has it, its owner, keeps it until the request arrives there, and has it at least
    /// until `held_until`: a core finishes what it has begun with a line before it answers.
    pub(super) fn keep(
        &mut self,
        line: LineId,
        owner: CacheId,
        Request { now, start, latency }: Request,
        held_until: Cycles,
    ) {
        let part = Cycles(latency.0 / PARTS);
        // One that has to wait for the line waits at the line's home.
        let arrives = start.max(now + part) + part;
        let until = arrives.max(held_until.min(start + latency));
        let Few { lines, next } = &mut self.0[owner];
        lines[*next] = (line, until);
        *next = (*next + 1) % LINES;
    }
}

/// A core asks for a line that another one owns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) now: Cycles,
    /// When it is the line's turn to serve it.
    pub(super) start: Cycles,
    /// How long the line takes from then on.
    pub(super) latency: Cycles,
}
