//! Blocks of lines that are touched from one end to the other, such as a page that is zeroed.
//!
//! A block is simulated by the batch of at most 64 lines, at the cost of one event for each batch.
//! Every line of it is found, changes its state and gets its places in the caches as with an access
//! to a single word. But the accesses overlap, so the time is not the sum of their latencies.
//!
//! # How long a batch takes
//! As long as the slowest of what it needs:
//!
//! * **The core.** Each line in its own caches takes `own_line_cycles`. A line from elsewhere takes
//!   one of the core's `lines_under_way` for a latency, by where it was found. A line that was
//!   written and has to leave for the last-level cache takes one for a last-level hit. So what was
//!   written before costs about as much to get rid of as lines of the last level cost to get.
//! * **The memory's channels**, and the link to another node's memory. Batches pass them one after
//!   the other, as in [`Sim::fetch`]. Lines that were written and leave the last cache that has a
//!   copy pass them as well. Nobody waits for these, but whoever reads next does.
//! * **The farthest line**, which takes its latency.
//!
//! # What a page costs
//! Zeroing 4 KiB, in cycles; the simulated figures are those of `core-i7-6700`, one core alone:
//!
//! | where its lines are | simulated | published |
//! |---|---|---|
//! | second-level cache | 192 | 192 (3 a line: T. Downs, "Microcode Mystery", 2019, Skylake) |
//! | last-level cache | 395 | 320 to 384 (5 to 6 a line, ibid.) |
//! | another core's cache | 576 | – |
//! | memory | 1,285 | 960 to 1,280 (15 to 20 a line, ibid.); at most 1,400 of a minor page fault's 3,400 (Valat and others, 2013, older Xeons) |
//!
//! The core's own cache is full of written lines there, which have to leave. That is 197 cycles of
//! all but the first row.
//!
//! # Beside a host
//! `examples/zeroing.rs` measures the host and simulates it beside that. On a virtual machine of two
//! Zen 5 cores (1 MiB and a last level of 32 MiB), which were idle otherwise, in ns for 4 KiB:
//!
//! | where its lines are | measured | simulated | with `lines_under_way` and `own_line_cycles` not measured |
//! |---|---|---|---|
//! | own caches | 28 | 29 | 74 |
//! | last-level cache | 44 | 29 | 158 |
//! | memory | 160 | 232 | 1,072 |
//!
//! * The first row is alike because it is what `own_line_cycles` was measured from.
//! * The last level is a third too fast. There the simulated core's own pace limits it.
//! * Memory is half too slow. Each line passes the channels twice in the simulation, in and out, and
//!   that limits it. This processor probably does not fetch what is zeroed.
//! * The last column shows how much the two figures matter: without them a file has those of Intel's
//!   older cores, and the times are 2.6, 3.6 and 6.7 times as long as measured. Their order is right.
//! * The steps are where they should be: measured between 192 and 384 pages and between 4,096 and
//!   8,192, simulated at 256 and a little beyond 8,192. Measured steps are gradual, as other virtual
//!   machines use the last level and pages do not spread evenly over sets.
//!
//! # Which line leaves a cache
//! The one of its set that was not used for longest, for what blocks touch. Accesses to single words
//! that hit do not count as uses, as in all simulations: such a word leaves its core's cache after
//! some 64 pages (on a 256 KiB cache) have streamed through it, and costs a last-level hit to fetch.
//!
//! # What is left out
//! * The first-level cache: it is one with the second. Pages in it would take a third as long. The
//!   start of `rep stosb`, some tens of cycles.
//! * Stores that allocate no line, and ones that fetch no old contents of it. `rep stosb` on some
//!   machines asks for ownership without data. The time to get that is similar, but the channels
//!   carry half as much as here.
//! * Zeros that Intel's caches since Skylake do not write back where zeros were already.
//! * Translation of addresses, and siblings that share a core's misses.

use kilocore_platform::Cycles;

use crate::coherence::{Access, Visit};
use crate::costs::times;
use crate::current::with_engine;
use crate::engine::Engine;
use crate::found::Found;
use crate::ids::LineId;
use crate::outcome::Activity;
use crate::platform::Sim;
use crate::platform::charge::give_way_to_earlier;
use crate::region::SimBlock;

/// Lines of a batch. Others cannot come between them.
const BATCH: u32 = 64;

/// How a block is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    access: Access,
    every: u32,
    under_way: Option<u32>,
}

impl Touch {
    /// Reads every line of the block.
    pub const READ: Self = Self { access: Access::Read, every: 1, under_way: None };
    /// Writes every line of the block.
    pub const WRITE: Self = Self { access: Access::Write, every: 1, under_way: None };

    /// Leaves lines out: touches the first of every `lines` lines.
    ///
    /// # Panics
    /// If `lines` is 0.
    #[must_use]
    pub const fn every(self, lines: u32) -> Self {
        assert!(lines > 0, "a step of no lines");
        Self { every: lines, ..self }
    }

    /// With so many lines on their way at a time, instead of as many as the machine can have. That
    /// is 1 where each address comes from the line before.
    ///
    /// # Panics
    /// If `lines` is 0.
    #[must_use]
    pub const fn with_lines_under_way(self, lines: u32) -> Self {
        assert!(lines > 0, "at least one line is under way");
        Self { under_way: Some(lines), ..self }
    }
}

impl Sim {
    /// Writes all of a block without a look at what was there, as the kernel zeroes a page. Returns
    /// where its lines were.
    pub fn initialize(block: SimBlock) -> Found {
        Self::touch(block, Touch::WRITE)
    }

    /// Touches a block from its beginning to its end. Returns where the lines were that it touched.
    ///
    /// Outside of simulated tasks it finds nothing and costs nothing.
    pub fn touch(block: SimBlock, how: Touch) -> Found {
        let mut found = Found::default();
        let mut rest = block;
        while rest.bytes() > 0 {
            give_way_to_earlier();
            let done = with_engine(|engine| engine.touch_batch(&mut rest, how, &mut found));
            if done.is_none() {
                break;
            }
        }
        found
    }

    /// Where the lines of a block are, seen from the caller's core. Nobody is charged.
    #[must_use]
    pub fn look(block: SimBlock) -> Found {
        give_way_to_earlier();
        with_engine(|engine| engine.look(block)).unwrap_or_default()
    }
}

impl Engine {
    /// Touches the first lines of `rest` and leaves those for later that are too many.
    fn touch_batch(&mut self, rest: &mut SimBlock, how: Touch, found: &mut Found) {
        self.memory.become_layered(&self.costs);
        let core = self.current_core();
        let (now, place) = (core.time, core.place);
        let mut visit = Visit::default();
        let mut watched: Vec<LineId> = Vec::new();
        let (mut address, end) = self.lines_of(*rest);
        let step = (how.every as usize) << self.costs.line_shift;
        let mut lines = 0;
        while address < end && lines < BATCH {
            let line = self.memory.line_of_block(address, self.costs.line_shift, place.node);
            self.memory.visit(&self.costs, line, place, how.access, now, &mut visit);
            if how.access != Access::Read && self.memory.is_watched(line) {
                watched.push(line);
            }
            address += step;
            lines += 1;
        }
        *rest = rest.from(address);
        self.operations += u64::from(lines);
        *found += visit.found;
        let turn = self.memory.finish_visit(&self.costs, place.node, now, &mut visit);
        let (working, alone) = self.batch_takes(&visit, how);
        self.pass(Activity::Stalled, turn - now + (alone - working));
        self.pass(Activity::Working, working);
        for line in watched {
            self.alert_watchers(line, self.now());
        }
    }

    /// How long the core stores or loads, and how long the batch takes with that once it is its turn.
    fn batch_takes(&self, visit: &Visit, how: Touch) -> (Cycles, Cycles) {
        let Visit { found, .. } = visit;
        let own = f64::from(found.own) * f64::from(self.costs.own_line);
        // All of the core's misses are under way for what comes and what leaves. What comes may be
        // limited to fewer.
        let most = f64::from(self.costs.lines_under_way);
        let coming = visit.latencies.0 as f64;
        let leaving = f64::from(visit.sent_down) * self.costs.shared_hit.0 as f64;
        let limited = how.under_way.map_or(0.0, |lines| coming / f64::from(lines));
        let core = Cycles((own + limited.max((coming + leaving) / most)).round() as u64);
        let working = times(found.lines(), self.costs.own_line.into());
        let alone = core.max(working).max(visit.on_channel).max(visit.farthest);
        (working, alone)
    }

    fn look(&self, block: SimBlock) -> Found {
        let mut found = Found::default();
        let place = self.current_core().place;
        let (start, end) = self.lines_of(block);
        for address in (start..end).step_by(1 << self.costs.line_shift) {
            self.memory.look(&self.costs, address, place, &mut found);
        }
        found
    }

    /// The address of the first line of a block, and the address after its last byte.
    fn lines_of(&self, block: SimBlock) -> (usize, usize) {
        let start = block.start().0;
        (start >> self.costs.line_shift << self.costs.line_shift, start + block.bytes())
    }
}
