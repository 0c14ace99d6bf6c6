//! A recorded trace, on a simulated machine.
//!
//! A program that waited for something in the recording waits as long here: nothing is done before the time
//! at which it was done then.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::{Action, Script, Step};
use kilocore_pages::FrameId;
use kilocore_platform::{Cycles, Platform};
use kilocore_sim::{Random, Sim};

use crate::simulated::world::{Others, World, wait_until};

/// The first eighth of a trace is not measured: no list has anything at first.
const WARM_PARTS: u64 = 8;

/// What all hardware threads have in common. It is not simulated.
pub(crate) struct Replay {
    pub(crate) world: World,
    script: Script,
    /// For each page that is ever allocated, its frame, while it is held.
    frames: Vec<Cell<Option<FrameId>>>,
    gigahertz: f64,
    ticks: Cell<u64>,
    /// No frame was free for so many pages.
    pub(crate) refused: Cell<u64>,
}

impl Replay {
    pub(crate) fn new(world: World, script: Script, gigahertz: f64) -> Self {
        Self {
            world,
            frames: vec![Cell::new(None); script.pages as usize],
            script,
            gigahertz,
            ticks: Cell::new(0),
            refused: Cell::new(0),
        }
    }

    /// Does what a hardware thread has to do.
    pub(crate) fn run(self: &Rc<Self>, core: usize, others: &RefCell<Others>, mut random: Random) {
        for step in &self.script.steps[core] {
            let at = self.cycles(step.at.0);
            Sim::work(at.since(Sim::now()));
            Sim::catch_up();
            self.pass_time();
            match step.action {
                Action::Allocate { zeroed } => {
                    self.allocate(step, zeroed);
                    for _ in 0..step.pages {
                        self.world.use_others(others);
                    }
                }
                Action::Release => self.release(step, &mut random),
            }
        }
    }

    fn cycles(&self, nanoseconds: u64) -> Cycles {
        Cycles((nanoseconds as f64 * self.gigahertz) as u64)
    }

    fn pass_time(&self) {
        let now = Sim::now();
        if now >= self.cycles(self.script.end.0 / WARM_PARTS) {
            self.world.meter.open(now);
        }
        let ticks = now.0 / self.cycles(1_000_000_000).0;
        if ticks > self.ticks.replace(ticks) {
            self.world.tick();
        }
    }

    fn allocate(&self, step: &Step, zeroed: bool) {
        let first = match step.pages {
            1 => self.world.allocate(zeroed),
            pages => self.world.allocate_run(pages, zeroed),
        };
        if first.is_none() {
            self.refused.set(self.refused.get() + u64::from(step.pages));
        }
        for at in 0..step.pages {
            // A page that was refused is one that is never used.
            let frame = first.map_or(FrameId(u32::MAX), |first| FrameId(first.0 + at));
            self.frames[(step.first + at) as usize].set(Some(frame));
        }
    }

    fn release(&self, step: &Step, random: &mut Random) {
        // Another core may be late with the allocation.
        let last = &self.frames[(step.first + step.pages - 1) as usize];
        wait_until(|| last.get().is_some());
        let first =
            self.frames[step.first as usize].take().expect("it was allocated with the last");
        if first.0 == u32::MAX {
            return;
        }
        // Pages with neighbouring numbers are of one block, or of blocks that were allocated in a row.
        let mut run = (first, 1);
        let mut runs = Vec::new();
        for at in 1..step.pages {
            let frame = self.frames[(step.first + at) as usize].take();
            let frame = frame.expect("it was allocated with the last");
            if frame.0 == run.0.0 + run.1 {
                run.1 += 1;
            } else {
                runs.push(run);
                run = (frame, 1);
            }
        }
        runs.push(run);
        for (first, frames) in runs {
            // SAFETY: they were allocated, and are taken out of the table as they are released.
            unsafe { self.world.release(first, frames, random) };
        }
    }
}
