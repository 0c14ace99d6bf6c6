//! Simulates one load under one policy with one number of hardware threads.

use std::cell::RefCell;
use std::rc::Rc;

use crate::{Latency, Script, Trace};
use kilocore_machine::Description;
use kilocore_pages::Policy;
use kilocore_points::{Elsewhere, Name, read_name};
use kilocore_sim::{Options, Random, SimError, Simulation};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::simulated::handing::{Handing, Pattern};
use crate::simulated::meter::{Meter, Shares};
use crate::simulated::policy;
use crate::simulated::replay::Replay;
use crate::simulated::setting::Setting;
use crate::simulated::world::{Others, World};

/// What is done with pages.
#[derive(Debug, Clone, Copy)]
pub enum Load<'a> {
    /// What a program did that was recorded.
    Trace(&'a Trace),
    /// Cores allocate and release as fast as they can.
    Pattern(Pattern),
}

/// How much is simulated of a pattern. Traces are simulated as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLength {
    /// Pages that each core allocates before anything is measured, on average.
    pub warm_pages: u32,
    /// Pages of each core that are measured, on average.
    pub pages: u32,
    /// The seed of all chance.
    pub seed: u64,
}

impl Default for RunLength {
    fn default() -> Self {
        Self { warm_pages: 3_000, pages: 4_000, seed: 1 }
    }
}

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Which free page an allocation got.
    #[serde(deserialize_with = "read_policy_name")]
    pub policy: Name,
    /// How many hardware threads ran.
    pub cores: u32,
    /// How long it took to initialize a page, in cycles.
    pub initialization: Latency,
    /// Where the lines of these pages were.
    pub found: Shares,
    /// Mean time of an allocation, in cycles, without initialization.
    pub allocation_cycles: f64,
    /// Mean time of a release, in cycles.
    pub release_cycles: f64,
    /// Pages allocated in a second, by all hardware threads together.
    pub pages_per_s: f64,
}

/// Why an experiment cannot be simulated.
#[derive(Debug, Error)]
pub enum PagesError {
    /// The simulation could not be set up, or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The point is simulated by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

fn read_policy_name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    read_name(from, Policy::ALL.map(Policy::name))
}

/// One point to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// What does not depend on the policy.
    pub setting: &'a Setting,
    /// Which free page an allocation gets.
    pub policy: Policy,
    /// What is done with pages.
    pub load: Load<'a>,
    /// How many hardware threads run.
    pub cores: u32,
    /// How much is simulated.
    pub length: RunLength,
}

/// Simulates a point.
///
/// # Errors
/// [`PagesError`] if the machine does not have the hardware threads.
///
/// # Panics
/// If a simulated task panics.
pub fn simulate(job: &Job<'_>, machine: &Description) -> Result<Point, PagesError> {
    match job.load {
        Load::Trace(trace) => replay(job, machine, trace),
        Load::Pattern(pattern) => hand(job, machine, pattern),
    }
}

/// The frames of the pool: several times what the load has at a time, as a machine has.
const FRAMES_TIMES_HELD: u64 = 4;
const LEAST_FRAMES: u64 = 1 << 16;

fn frames(held: u64) -> u32 {
    let frames = (held * FRAMES_TIMES_HELD).max(LEAST_FRAMES).next_power_of_two();
    u32::try_from(frames).unwrap_or(u32::MAX)
}

fn shared_bytes(machine: &Description) -> usize {
    (machine.caches.shared_kib.value * 1024.0) as usize
}

fn world(job: &Job<'_>, machine: &Description, simulation: &mut Simulation, held: u64) -> World {
    let memory_frames = job.setting.memory_frames;
    let policy = policy::make(job.policy, machine, job.cores, frames(held), memory_frames);
    World::new(simulation, policy, *job.setting)
}

fn replay(job: &Job<'_>, machine: &Description, trace: &Trace) -> Result<Point, PagesError> {
    let options = Options { cores: job.cores, seed: job.length.seed };
    let mut simulation = Simulation::new(machine, options)?;
    let gigahertz = machine.clock_ghz.value;
    let script = Script::new(trace, job.cores);
    let world = world(job, machine, &mut simulation, trace.header.contents.held_at_most);
    let replay = Rc::new(Replay::new(world, script, gigahertz));
    for core in 0..job.cores {
        let others = RefCell::new(Others::new(&mut simulation, shared_bytes(machine), job.cores));
        let replay = Rc::clone(&replay);
        let random = Random::new(job.length.seed, u64::from(core) + 1);
        simulation.spawn(move || replay.run(core as usize, &others, random))?;
    }
    simulation.run()?;
    assert_eq!(replay.refused.get(), 0, "there are enough frames");
    Ok(point(job, machine, &replay.world.meter))
}

fn hand(job: &Job<'_>, machine: &Description, pattern: Pattern) -> Result<Point, PagesError> {
    let options = Options { cores: job.cores, seed: job.length.seed };
    let mut simulation = Simulation::new(machine, options)?;
    let shared_pages = (machine.caches.shared_kib.value / 4.0) as u32;
    let caches = machine.topology.nodes() * machine.caches.shared_per_node.max(1);
    let cores_of_cache = (machine.hardware_threads() / caches.max(1)).clamp(1, job.cores.max(1));
    let own_pages = (shared_pages / 2 / cores_of_cache).max(1);
    let all = |each: u32| u64::from(each) * u64::from(job.cores);
    let held = u64::from(own_pages.max(4_096)) * u64::from(job.cores);
    let world = world(job, machine, &mut simulation, held);
    let counts = (all(job.length.warm_pages), all(job.length.pages));
    let handing = Rc::new(Handing::new(world, pattern, job.cores, own_pages, counts));
    for core in 0..job.cores {
        let others = RefCell::new(Others::new(&mut simulation, shared_bytes(machine), job.cores));
        let handing = Rc::clone(&handing);
        let random = Random::new(job.length.seed, u64::from(core) + 1);
        simulation.spawn(move || handing.run(core, &others, random))?;
    }
    simulation.run()?;
    Ok(point(job, machine, &handing.world.meter))
}

fn point(job: &Job<'_>, machine: &Description, meter: &Meter) -> Point {
    Point {
        policy: job.policy.name(),
        cores: job.cores,
        initialization: meter.latency(),
        found: meter.shares(),
        allocation_cycles: meter.mean_allocation(),
        release_cycles: meter.mean_release(),
        pages_per_s: meter.pages_per_cycle() * machine.clock_ghz.value * 1e9,
    }
}
