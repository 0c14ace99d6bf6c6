//! Many lines from memory at once.
//!
//! A thread that streams through memory, or misses its caches again and again, is simulated by the
//! batch and not by the line. A batch waits for its turn at the channels of its home node, and on
//! the link to that node if it is not the reader's own. It keeps both busy for as long as its lines
//! take there, and comes in as fast as the reader's outstanding misses allow. Batches of several
//! cores are served in the order in which they ask.
//!
//! Two limits follow from that and are not put in: a core never reads faster than `overlap` lines in
//! each memory latency, and all readers of a node together never read faster than its bandwidth.

use kilocore_platform::{Cycles, NodeId};

use crate::costs::times;
use crate::current::with_engine;
use crate::engine::Engine;
use crate::outcome::Activity;
use crate::platform::Sim;
use crate::platform::charge::give_way_to_earlier;

/// The misses that a core can have under way, which are its line fill buffers. The Intel cores from
/// Nehalem to Broadwell have ten, and later ones twelve and more. AMD cores of the same times are
/// like that.
pub const MOST_OVERLAP: u32 = 10;

impl Sim {
    /// Fetches `lines` lines that no cache holds from the memory of `home`, with `overlap` of them
    /// under way at a time. That is 1 where each address comes from the line before, and
    /// [`MOST_OVERLAP`] where the core or its prefetchers run ahead.
    ///
    /// The lines are one batch, which the memory serves as a whole. Others wait for a batch of many
    /// latencies as they would not on hardware, so keep it short.
    ///
    /// # Panics
    /// If the machine has no node `home`, or nothing is to overlap.
    pub fn fetch(home: NodeId, lines: u32, overlap: u32) {
        assert!(overlap > 0, "at least one miss is under way");
        give_way_to_earlier();
        with_engine(|engine| engine.fetch(home, lines, overlap));
    }
}

impl Engine {
    fn fetch(&mut self, home: NodeId, lines: u32, overlap: u32) {
        if lines == 0 {
            return;
        }
        self.operations += 1;
        let from = self.current_core().place.node;
        let alone = self.alone(from, home, lines, overlap);
        let now = self.now();
        let start = self.memory.pass_batch(from, home, now, lines, &self.costs);
        self.pass(Activity::Stalled, start - now + alone);
    }

    /// How long a batch takes once it is its turn. The slowest of what it needs decides.
    fn alone(&self, from: NodeId, home: NodeId, lines: u32, overlap: u32) -> Cycles {
        let latency = self.costs.memory(from, home);
        let per_line = latency.0 as f64 / f64::from(overlap);
        let transfer = self.costs.line_in_stream(from, home);
        latency.max(times(lines, per_line.max(transfer)))
    }
}
