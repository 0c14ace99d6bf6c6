//! A process that writes or reads its file, folio after folio or page after page.

use std::rc::Rc;

use kilocore_lru::{Class, FolioOrder, FrameId, PageLists};
use kilocore_platform::{Cycles, NodeId, Platform};
use kilocore_sim::{MOST_OVERLAP, Random, Sim};

use crate::lru::memory::{FreeList, Node, REFILL};
use crate::lru::meter;
use crate::lru::pattern::Pattern;
use crate::lru::window::Window;

/// Lines of a page of 4 KiB.
const LINES: u32 = 64;

/// What all processes have in common.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) nodes: Vec<Node>,
    pub(crate) pattern: Pattern,
    pub(crate) folio: FolioOrder,
    pub(crate) window: Window,
    /// Work on a page, apart from the lists, the allocator and the copy.
    pub(crate) page: Cycles,
    /// The time in which a batch is sorted, if it is.
    pub(crate) sort: Option<Cycles>,
    pub(crate) batch: u32,
}

/// A process that reads or writes pages of a file.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) world: Rc<World>,
    pub(crate) random: Random,
    /// What it reads, if it does.
    pub(crate) cached: Vec<FrameId>,
}

impl Process {
    /// Works until the window is closed. Returns early if there is no free frame any more.
    pub(crate) fn run(mut self) {
        let world = Rc::clone(&self.world);
        let here = Sim::node();
        let node = &world.nodes[here.0 as usize];
        // The processes are not in step: they begin one after the other, with free lists of all
        // lengths.
        let begin = self.random.uniform();
        self.work(2.0 * f64::from(world.batch) * begin);
        let mut free = FreeList::default();
        let mut most = 1 + (self.random.uniform() * f64::from(REFILL)) as u32;
        let mut at = 0;
        while !world.window.is_closed() {
            if world.pattern == Pattern::Read {
                self.read(node, here, self.cached[at]);
                at = (at + 1) % self.cached.len();
            } else {
                let Some(frame) = node.allocate(here, &mut free, world.folio, most) else { return };
                most = REFILL;
                self.write(node, here, frame);
            }
            Sim::catch_up();
            world.window.count(Sim::now());
        }
    }

    /// Writes a folio: makes it one of the cache, and copies the caller's data there.
    fn write(&mut self, node: &Node, here: NodeId, frame: FrameId) {
        let pages = self.world.folio.frames();
        self.work(0.5 * f64::from(pages));
        self.add(node, frame);
        // Page by page: a core has few misses under way, so that those of others get in between.
        for _ in 0..pages {
            // The frame's lines come to the cache, and those of a page before go back. Only the first
            // makes the core wait.
            Sim::fetch(here, 2 * LINES, 2 * MOST_OVERLAP);
        }
        self.work(0.5 * f64::from(pages));
    }

    /// Adds a folio to the lists, and measures how long that takes.
    fn add(&self, node: &Node, frame: FrameId) {
        let (before, waited) = (Sim::now(), meter::waited());
        let waiting = meter::put_in(node.lists.layout().stripe(frame));
        if let (Some(sort), true) = (self.world.sort, waiting == self.world.batch as usize) {
            meter::sort();
            Sim::work(sort);
        }
        let added = node.lists.add_folio(frame, self.world.folio, Class::File, None);
        debug_assert!(added.is_ok(), "the allocator hands a frame out once");
        let waited = meter::waited().since(waited);
        self.world.window.count_addition(Sim::now().since(before), waited);
    }

    /// Reads a page of the cache, and says that it was used.
    fn read(&mut self, node: &Node, here: NodeId, frame: FrameId) {
        self.work(0.5);
        node.lists.touch(frame);
        Sim::fetch(here, LINES, MOST_OVERLAP);
        self.work(0.5);
    }

    /// Works for about a part of what a page takes, between half of it and one and a half times.
    fn work(&mut self, part: f64) {
        let cycles = self.world.page.0 as f64 * part * (0.5 + self.random.uniform());
        Sim::work(Cycles(cycles.round() as u64));
    }
}
