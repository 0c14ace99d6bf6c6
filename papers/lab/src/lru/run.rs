//! Simulates one pattern under one variant with one number of threads.

use std::rc::Rc;

use kilocore_lru::{Class, FrameId, OptionsError, PageLists, Striped};
use kilocore_machine::{Description, HardwareThread};
use kilocore_points::{Elsewhere, Name, read_name};
use kilocore_sim::{Options, Random, Sim, SimError, Simulation};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::lru::folios::{Folios, LARGEST_FOLIO};
use crate::lru::memory::{Lock, Node, REFILL, frames_of_each};
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The variant: how the lists were divided.
    #[serde(deserialize_with = "read_variant_name")]
    pub variant: Name,
    /// The number of stripes.
    pub factor: u32,
    /// What the processes did.
    pub pattern: Pattern,
    /// Pages of a folio, which go through the lists together.
    pub folio_pages: u32,
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
    #[error("{pages} pages for a node that has {frames}; choose fewer for each process")]
    Length {
        /// Pages that its processes may get to.
        pages: u64,
        /// Pages that there is room for.
        frames: u32,
    },
    /// Large folios are for sequential writes.
    #[error("{pattern} has single pages; only seq-write has folios, of order 0 to {}", LARGEST_FOLIO.get())]
    Folio {
        /// What was to be done.
        pattern: Pattern,
    },
    /// The point is simulated by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

fn read_variant_name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    read_name(from, Variant::ALL.map(Variant::name))
}

const BYTES_PER_PAGE: f64 = 4096.0;

/// One point to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// What does not depend on the variant.
    pub setting: &'a Setting,
    /// How the lists are divided.
    pub variant: Variant,
    /// The number of stripes. It does not matter if the variant has only one.
    pub factor: u32,
    /// What the processes do.
    pub pattern: Pattern,
    /// In what folios they write.
    pub folios: Folios,
    /// Hardware threads, with a process each.
    pub threads: u32,
    /// How much is simulated.
    pub length: RunLength,
}

/// Simulates a point.
///
/// # Errors
/// [`LruError`] if the machine does not have the hardware threads, if there can be no lists with that
/// factor, or if the pages do not fit into the memory that is simulated.
///
/// # Panics
/// If a simulated process panics.
pub fn simulate(job: &Job<'_>, machine: &Description) -> Result<Point, LruError> {
    let mut simulation = check(job, machine)?;
    let Job { setting, variant, factor, pattern, folios, threads, length } = *job;
    let world = Rc::new(world(job, machine)?);
    let cached = folios_of_each(job);
    for (thread, seat) in (1..).zip(seats(machine, threads)) {
        let random = Random::new(length.seed, thread);
        let cached = match pattern {
            Pattern::Read => {
                (seat.place * cached..(seat.place + 1) * cached).map(FrameId).collect()
            }
            Pattern::SeqWrite | Pattern::RandWrite => Vec::new(),
        };
        let process = Process { world: Rc::clone(&world), random, cached };
        simulation.spawn(move || process.run())?;
    }
    let _meters = Meters::open(threads, setting.under_lock);
    simulation.run()?;
    let hz = machine.clock_ghz.value * 1e9;
    let bytes = BYTES_PER_PAGE * f64::from(folios.order.frames());
    Ok(Point {
        variant: variant.name(),
        factor: if variant.has_factor() { factor } else { 1 },
        pattern,
        folio_pages: folios.order.frames(),
        threads,
        throughput_mb_per_s: world.window.folios_per_cycle() * hz * bytes / 1e6,
        lock_wait_share: world.window.wait_share(),
    })
}

/// Returns a simulation of the machine, with nothing in it yet, if the point can be simulated.
pub(crate) fn check(job: &Job<'_>, machine: &Description) -> Result<Simulation, LruError> {
    let only_pages = job.pattern != Pattern::SeqWrite;
    if job.folios.order > LARGEST_FOLIO || only_pages && !job.folios.are_pages() {
        return Err(LruError::Folio { pattern: job.pattern });
    }
    let options = Options { cores: job.threads, seed: job.length.seed };
    let simulation = Simulation::new(machine, options)?;
    let seats = seats(machine, job.threads).map(|seat| seat.place + 1).max().unwrap_or(0);
    let pages =
        u64::from(seats) * u64::from(folios_of_each(job)) * u64::from(job.folios.order.frames());
    let frames = frames_of_each(machine.topology.nodes());
    if pages > u64::from(frames) {
        return Err(LruError::Length { pages, frames });
    }
    Striped::<Sim, Lock>::new(0, 1, job.variant.options(job.factor, 1))?;
    Ok(simulation)
}

/// Where a process runs.
#[derive(Debug, Clone, Copy)]
struct Seat {
    node: u32,
    /// How many of the processes before it run on the same node.
    place: u32,
}

/// The seats of so many processes, one for each hardware thread.
fn seats(machine: &Description, threads: u32) -> impl Iterator<Item = Seat> {
    let mut taken = vec![0; machine.topology.nodes() as usize];
    (0..threads).map(move |thread| {
        let node = machine.location(HardwareThread(thread)).node;
        let place = &mut taken[node as usize];
        *place += 1;
        Seat { node, place: *place - 1 }
    })
}

/// Folios that all processes do before folios are counted, and folios that are counted. Of large folios
/// it takes fewer, but not so few that processes are in step.
fn warm_and_counted(job: &Job<'_>) -> (u64, u64) {
    let in_folios = |pages: u32| (pages >> job.folios.order.get()).max(pages / 6);
    let RunLength { warm_pages, pages, least, .. } = job.length;
    let [warm_pages, pages, least] = [warm_pages, pages, least].map(in_folios);
    let all = |each: u32| u64::from(each) * u64::from(job.threads);
    (all(warm_pages).max(1), all(pages).max(least.into()).max(1))
}

/// More folios than a process gets to: some are faster than others.
fn folios_of_each(job: &Job<'_>) -> u32 {
    let (warm, counted) = warm_and_counted(job);
    let each = 2 * (warm + counted) / u64::from(job.threads) + u64::from(2 * REFILL);
    u32::try_from(each).unwrap_or(u32::MAX)
}

fn world(job: &Job<'_>, machine: &Description) -> Result<World, OptionsError> {
    let Job { setting, variant, factor, pattern, folios, .. } = *job;
    let nodes = (0..machine.topology.nodes()).map(|node| self::node(job, machine, node));
    let (warm, counted) = warm_and_counted(job);
    Ok(World {
        nodes: nodes.collect::<Result<Vec<Node>, OptionsError>>()?,
        pattern,
        folio: folios.order,
        window: Window::new(warm, counted),
        page: match pattern {
            Pattern::Read => setting.read,
            Pattern::SeqWrite | Pattern::RandWrite => setting.write,
        },
        sort: variant.options(factor, setting.batch).sorted.then_some(setting.sort),
        batch: setting.batch,
    })
}

/// Returns a node's memory, with what its processes read on the lists.
fn node(job: &Job<'_>, machine: &Description, node: u32) -> Result<Node, OptionsError> {
    let Job { setting, variant, factor, pattern, threads, .. } = *job;
    let frames = frames_of_each(machine.topology.nodes());
    let lists = Striped::new(frames, threads, variant.options(factor, setting.batch))?;
    let lists = if job.folios.wait { lists.letting_wait(job.folios.order) } else { lists };
    if pattern == Pattern::Read {
        let readers = seats(machine, threads).filter(|seat| seat.node == node).count() as u32;
        for frame in 0..readers * folios_of_each(job) {
            // Each is added once, so that none is a member already.
            let _ = lists.add(FrameId(frame), Class::File);
        }
        lists.drain();
    }
    Ok(Node::new(lists, pattern == Pattern::RandWrite, setting.in_zone))
}
