//! Simulates one pattern under one variant with one number of threads.

use std::rc::Rc;

use kilocore_lru::{Class, FrameId, OptionsError, PageLists, Striped};
use kilocore_machine::Description;
use kilocore_sim::{Options, Random, Sim, SimError, Simulation};
use serde::Serialize;
use thiserror::Error;

use crate::lru::memory::{FRAMES, Lock, Node, REFILL};
use crate::lru::meter::Meters;
use crate::lru::pattern::Pattern;
use crate::lru::process::{Process, World};
use crate::lru::setting::Setting;
use crate::lru::variants::Variant;
use crate::lru::window::Window;

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLength {
    /// Pages that each process does before pages are counted, on average.
    pub warm_pages: u32,
    /// Pages of each process that are counted, on average.
    pub pages: u32,
    /// Pages that are counted at least, of all processes together.
    pub least: u32,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for RunLength {
    fn default() -> Self {
        Self { warm_pages: 90, pages: 240, least: 6_000, seed: 1 }
    }
}

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The variant: how the lists were divided.
    pub variant: &'static str,
    /// The number of stripes.
    pub factor: u32,
    /// What the processes did.
    pub pattern: Pattern,
    /// Hardware threads, with a process each.
    pub threads: u32,
    /// Throughput of all processes together, in megabytes (10⁶ bytes) a second.
    pub throughput_mb_per_s: f64,
    /// Which part of the time in additions to the lists went into acquiring locks of the lists: from
    /// 0 to 1, and 0 if nothing is added.
    pub lock_wait_share: f64,
}

/// Why an experiment cannot be simulated.
#[derive(Debug, Error)]
pub enum LruError {
    /// The simulation could not be set up, or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The lists cannot be made.
    #[error(transparent)]
    Lists(#[from] OptionsError),
    /// The pages do not fit into the memory that is simulated.
    #[error("{0} pages to simulate: a node has {FRAMES}; choose fewer for each process")]
    Length(u64),
}

const BYTES_PER_PAGE: f64 = 4096.0;

/// Simulates a point. If the variant has only one stripe, `factor` does not matter.
///
/// # Errors
/// [`LruError`] if the machine does not have the hardware threads, or there can be no lists with
/// that factor.
pub fn simulate(
    setting: &Setting,
    variant: Variant,
    factor: u32,
    machine: &Description,
    threads: u32,
    pattern: Pattern,
    length: RunLength,
) -> Result<Point, LruError> {
    let mut simulation = check(variant, factor, machine, threads, length)?;
    let factor = if variant.has_factor() { factor } else { 1 };
    let world = Rc::new(world(setting, variant, factor, machine, threads, pattern, length)?);
    let cached = pages_of_each(threads, length);
    for thread in 0..threads {
        let random = Random::new(length.seed, 1 + u64::from(thread));
        let cached = match pattern {
            Pattern::Read => (thread * cached..(thread + 1) * cached).map(FrameId).collect(),
            Pattern::SeqWrite | Pattern::RandWrite => Vec::new(),
        };
        let process = Process { world: Rc::clone(&world), random, cached };
        simulation.spawn(move || process.run())?;
    }
    let _meters = Meters::open(threads, setting.under_lock);
    simulation.run()?;
    let hz = machine.clock_ghz.value * 1e9;
    Ok(Point {
        variant: variant.name(),
        factor,
        pattern,
        threads,
        throughput_mb_per_s: world.window.pages_per_cycle() * hz * BYTES_PER_PAGE / 1e6,
        lock_wait_share: world.window.wait_share(),
    })
}

/// Returns a simulation of the machine, with nothing in it yet, if the point can be simulated.
pub(crate) fn check(
    variant: Variant,
    factor: u32,
    machine: &Description,
    threads: u32,
    length: RunLength,
) -> Result<Simulation, LruError> {
    let simulation = Simulation::new(machine, Options { cores: threads, seed: length.seed })?;
    let needed = u64::from(threads) * u64::from(pages_of_each(threads, length));
    if needed > u64::from(FRAMES) {
        return Err(LruError::Length(needed));
    }
    Striped::<Sim, Lock>::new(0, 1, variant.options(factor, 1))?;
    Ok(simulation)
}

/// Pages that all processes do before pages are counted, and pages that are counted.
fn pages(threads: u32, length: RunLength) -> (u64, u64) {
    let all = |each: u32| u64::from(each) * u64::from(threads);
    (all(length.warm_pages).max(1), all(length.pages).max(length.least.into()).max(1))
}

/// More pages than a process gets to: some are faster than others.
fn pages_of_each(threads: u32, length: RunLength) -> u32 {
    let (warm, counted) = pages(threads, length);
    let each = 2 * (warm + counted) / u64::from(threads) + u64::from(2 * REFILL);
    u32::try_from(each).unwrap_or(u32::MAX)
}

fn world(
    setting: &Setting,
    variant: Variant,
    factor: u32,
    machine: &Description,
    threads: u32,
    pattern: Pattern,
    length: RunLength,
) -> Result<World, LruError> {
    let options = variant.options(factor, setting.batch);
    let node = |_| {
        let lists = Striped::new(FRAMES, threads, options)?;
        if pattern == Pattern::Read {
            for frame in 0..threads * pages_of_each(threads, length) {
                // Each is added once, so that none is a member already.
                let _ = lists.add(FrameId(frame), Class::File);
            }
            lists.drain();
        }
        Ok(Node::new(lists, pattern == Pattern::RandWrite, setting.in_zone))
    };
    let nodes: Result<Vec<Node>, OptionsError> = (0..machine.topology.nodes()).map(node).collect();
    let (warm, counted) = pages(threads, length);
    Ok(World {
        nodes: nodes?,
        pattern,
        window: Window::new(warm, counted),
        page: match pattern {
            Pattern::Read => setting.read,
            Pattern::SeqWrite | Pattern::RandWrite => setting.write,
        },
        sort: options.sorted.then_some(setting.sort),
        batch: setting.batch,
    })
}
