//! A recorded trace, on a simulated machine.
//!
//! The trace's threads are dealt to the machine's hardware threads, which do in the trace's order what it says,
//! at the times that it says or later. A program that waited for something in the recording waits as long here.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use kilocore_page_trace::{Thread, Trace, What};
use kilocore_pages::FrameId;
use kilocore_platform::{Cycles, Platform};
use kilocore_sim::{Random, Sim};

use crate::pages::world::{Others, World, wait_until};

/// Something that a hardware thread does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    at: Cycles,
    what: Action,
    /// The pages are those with the numbers from `first` on, of all that are ever allocated.
    first: u32,
    pages: u32,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Allocate { zeroed: bool },
    Release,
}

/// A trace as steps for each hardware thread.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) steps: Vec<Vec<Step>>,
    /// How many pages are ever allocated.
    pages: u32,
    /// When measuring begins.
    warm_until: Cycles,
}

/// The first eighth of a trace is not measured: no list has anything at first.
const WARM_PARTS: u64 = 8;

impl Script {
    /// Deals a trace to `cores` hardware threads of a machine of so many gigahertz.
    pub(crate) fn new(trace: &Trace, cores: u32, gigahertz: f64) -> Self {
        let core_of = deal(trace, cores);
        let mut steps = vec![Vec::new(); cores as usize];
        // For each page of the trace that is held, its number among all that are ever allocated.
        let mut held: BTreeMap<u32, u32> = BTreeMap::new();
        let mut pages = 0;
        let cycles = |nanoseconds: u64| Cycles((nanoseconds as f64 * gigahertz) as u64);
        for event in &trace.events {
            let (block, order) = event.what.block();
            let count = order.pages();
            let step = |what, first, pages| Step { at: cycles(event.at.0), what, first, pages };
            let steps = &mut steps[core_of[&event.thread] as usize];
            match event.what {
                What::Allocate { zeroed, .. } => {
                    held.extend((0..count).map(|at| (block.0 + at, pages + at)));
                    steps.push(step(Action::Allocate { zeroed }, pages, count));
                    pages += count;
                }
                What::Release { .. } => {
                    let numbers = (block.0..block.0 + count).filter_map(|page| held.remove(&page));
                    for (first, count) in neighbours(numbers) {
                        steps.push(step(Action::Release, first, count));
                    }
                }
            }
        }
        let end = trace.events.last().map_or(0, |event| event.at.0);
        Self { steps, pages, warm_until: cycles(end / WARM_PARTS) }
    }
}

/// Returns the runs of neighbours in a row of numbers.
fn neighbours(numbers: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => runs.push((number, 1)),
        }
    }
    runs
}

/// Deals threads to cores: the busiest first, each to the core that has least to do.
fn deal(trace: &Trace, cores: u32) -> BTreeMap<Thread, u32> {
    let mut events: BTreeMap<Thread, u64> = BTreeMap::new();
    for event in &trace.events {
        *events.entry(event.thread).or_default() += 1;
    }
    let mut busiest: Vec<_> = events.into_iter().collect();
    busiest.sort_by_key(|(thread, events)| (Reverse(*events), *thread));
    let mut load = vec![0; cores as usize];
    let mut core_of = BTreeMap::new();
    for (thread, events) in busiest {
        let core = (0..cores).min_by_key(|core| load[*core as usize]).expect("there is a core");
        load[core as usize] += events;
        core_of.insert(thread, core);
    }
    core_of
}

/// What all hardware threads have in common. It is not simulated.
pub(crate) struct Replay {
    pub(crate) world: World,
    script: Script,
    /// For each page that is ever allocated, its frame, while it is held.
    frames: Vec<Cell<Option<FrameId>>>,
    ticks: Cell<u64>,
    cycles_per_tick: u64,
    /// No frame was free for so many pages.
    pub(crate) refused: Cell<u64>,
}

impl Replay {
    pub(crate) fn new(world: World, script: Script, gigahertz: f64) -> Self {
        Self {
            world,
            frames: vec![Cell::new(None); script.pages as usize],
            script,
            ticks: Cell::new(0),
            cycles_per_tick: (gigahertz * 1e9) as u64,
            refused: Cell::new(0),
        }
    }

    /// Does what a hardware thread has to do.
    pub(crate) fn run(self: &Rc<Self>, core: usize, others: &RefCell<Others>, mut random: Random) {
        for step in &self.script.steps[core] {
            let now = Sim::now();
            if step.at > now {
                Sim::work(step.at.since(now));
            }
            Sim::catch_up();
            self.pass_time();
            match step.what {
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

    fn pass_time(&self) {
        let now = Sim::now();
        if now >= self.script.warm_until {
            self.world.meter.open(now);
        }
        let ticks = now.0 / self.cycles_per_tick;
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
