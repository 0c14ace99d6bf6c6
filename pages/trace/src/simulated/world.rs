//! Pages and a program that uses them.

use std::cell::RefCell;

use kilocore_pages::{Contents, Entry, FrameId, PagePolicy};
use kilocore_platform::{Cycles, NodeId, Platform};
use kilocore_sim::{Random, Sim, SimRegion, Simulation, Touch};

use crate::simulated::meter::Meter;
use crate::simulated::setting::Setting;

pub(crate) const PAGE_BYTES: usize = 4096;

/// The pages of other memory that each core goes through, again and again: four times what a last-level cache
/// has room for, so that none of it is there any more when its turn comes.
const OTHER_TIMES_CACHE: usize = 4;

/// The pool, its memory, and what is measured.
pub(crate) struct World {
    policy: Box<dyn PagePolicy>,
    memory: SimRegion,
    setting: Setting,
    pub(crate) meter: Meter,
}

/// A core's part of the program's other memory.
pub(crate) struct Others {
    memory: SimRegion,
    next: usize,
    /// What is left over of a page.
    due: f64,
}

impl Others {
    /// Adds so much memory for one core of a machine.
    pub(crate) fn new(simulation: &mut Simulation, shared_bytes: usize, cores: u32) -> Self {
        let all = OTHER_TIMES_CACHE * shared_bytes;
        let pages = (all / PAGE_BYTES).div_ceil(cores as usize).max(16);
        let memory = simulation.add_region(pages * PAGE_BYTES, NodeId(0));
        Self { memory, next: 0, due: 0.0 }
    }
}

impl World {
    pub(crate) fn new(
        simulation: &mut Simulation,
        policy: Box<dyn PagePolicy>,
        setting: Setting,
    ) -> Self {
        let memory = simulation.add_region(policy.frames() as usize * PAGE_BYTES, NodeId(0));
        Self { policy, memory, setting, meter: Meter::default() }
    }

    fn page(&self, frame: FrameId) -> kilocore_sim::SimBlock {
        self.memory.block(frame.0 as usize, PAGE_BYTES)
    }

    /// Allocates a page. It is initialized, or filled by somebody who is not measured.
    ///
    /// Returns `None` if none is free.
    pub(crate) fn allocate(&self, zeroed: bool) -> Option<FrameId> {
        let start = Sim::now();
        let frame = self.policy.allocate()?.entry.frame();
        Sim::work(self.setting.allocate);
        let end = Sim::now();
        self.meter.allocated(end.since(start), end);
        self.fill(frame, zeroed);
        Some(frame)
    }

    /// Allocates `frames` neighbouring pages, and returns the first; `None` if there is no such
    /// run.
    pub(crate) fn allocate_run(&self, frames: u32, zeroed: bool) -> Option<FrameId> {
        let start = Sim::now();
        let first = self.policy.allocate_run(frames, &mut |_| {})?;
        Sim::work(self.setting.allocate);
        let end = Sim::now();
        self.meter.allocated(end.since(start), end);
        (first.0..first.0 + frames).for_each(|frame| self.fill(FrameId(frame), zeroed));
        Some(first)
    }

    fn fill(&self, frame: FrameId, zeroed: bool) {
        let start = Sim::now();
        let found = Sim::initialize(self.page(frame));
        if zeroed {
            self.meter.initialized(Sim::now().since(start), found);
        }
    }

    /// Goes through other memory, for one allocation.
    pub(crate) fn use_others(&self, others: &RefCell<Others>) {
        let others = &mut *others.borrow_mut();
        others.due += self.setting.other_pages;
        let pages = others.memory.blocks(PAGE_BYTES);
        while others.due >= 1.0 {
            others.due -= 1.0;
            Sim::touch(others.memory.block(others.next, PAGE_BYTES), Touch::READ);
            others.next = (others.next + 1) % pages;
        }
    }

    /// Uses pages for the last time, or does not, and releases them.
    ///
    /// # Safety
    /// They are the caller's.
    pub(crate) unsafe fn release(&self, first: FrameId, frames: u32, random: &mut Random) {
        for frame in first.0..first.0 + frames {
            if random.uniform() < self.setting.used_before_release {
                Sim::touch(self.page(FrameId(frame)), Touch::READ);
            }
        }
        let start = Sim::now();
        // SAFETY: the caller's promise.
        unsafe {
            match frames {
                1 => self.policy.release(Entry::new(first, Contents::Unknown)),
                _ => self.policy.release_run(first, frames, Contents::Unknown),
            }
        }
        Sim::work(self.setting.release);
        self.meter.released(Sim::now().since(start));
    }

    /// A second has passed.
    pub(crate) fn tick(&self) {
        self.policy.tick();
    }
}

/// Waits until something that is not simulated has happened.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    Sim::catch_up();
    while !done() {
        Sim::work(Cycles(500));
        Sim::catch_up();
    }
}
