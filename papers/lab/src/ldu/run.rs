//! Simulates one workload under one scheme on one number of cores.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_ldu::Scheme;
use kilocore_machine::Description;
use kilocore_platform::Cycles;
use kilocore_points::{Elsewhere, Name, read_name};
use kilocore_sim::{Options, Random, Sim, SimError, Simulation};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::ldu::flusher::flush_now_and_then;
use crate::ldu::progress::{Progress, Spent};
use crate::ldu::schemes::{SchemeId, SchemeVisitor};
use crate::ldu::task::{Children, Ids, Parent, Relay};
use crate::ldu::workload::Setting;
use crate::ldu::world::World;

/// How much of a workload is simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunLength {
    /// The number of processes that each core should create while they are counted. A quarter as
    /// many come before and are not counted.
    pub forks_per_core: u32,
    /// The number of processes that all cores together create at least.
    pub forks: u32,
    /// The time before anything is counted, at least, in microseconds. Adaptive schemes need it to
    /// adapt.
    pub warm_us: f64,
    /// The same, as a number of processes that all cores together create.
    pub warm_forks: u32,
    /// The time during which processes are counted, at least, in microseconds. If an adaptive
    /// scheme tries something from time to time, this has to be long enough to include such trials
    /// in proportion.
    pub counted_us: f64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for RunLength {
    fn default() -> Self {
        Self {
            forks_per_core: 20,
            forks: 4_000,
            warm_us: 100_000.0,
            warm_forks: 1_000,
            counted_us: 50_000.0,
            seed: 1,
        }
    }
}

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The scheme: how the reverse mapping was shared.
    #[serde(deserialize_with = "read_scheme_name")]
    pub scheme: Name,
    /// How many cores the workload ran on.
    pub cores: u32,
    /// Share of the reverse mapping's operations that were updates, in percent.
    pub updates_percent: f64,
    /// Units of the workload per second.
    pub throughput_per_s: f64,
    /// Share of the cores' time in user mode.
    pub user: f64,
    /// Share of the cores' time in the kernel, including waits for cache lines and spinning.
    pub sys: f64,
    /// Share of the cores' time with nothing to run.
    pub idle: f64,
}

/// Why an experiment cannot be simulated.
#[derive(Debug, Error)]
pub enum LduError {
    /// The simulation could not be set up, or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The share of updates is not possible.
    #[error("{0} % updates: choose more than 0, and at most 100")]
    Updates(f64),
    /// The point is simulated by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

fn read_scheme_name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    read_name(from, SchemeId::ALL.iter().map(|scheme| scheme.name()))
}

/// Simulates a point. Of all operations on the reverse mapping, `updates_percent` are updates; the
/// others walk it.
///
/// # Errors
/// [`LduError`] if the machine does not have the cores, or if the share of updates is not possible.
pub fn simulate(
    setting: &Setting,
    scheme: SchemeId,
    machine: &Description,
    cores: u32,
    updates_percent: f64,
    length: RunLength,
) -> Result<Point, LduError> {
    let simulation = check(machine, cores, updates_percent, length)?;
    scheme.visit(Run { setting, scheme, machine, cores, updates_percent, length, simulation })
}

/// Returns a simulation of the machine, with nothing in it yet, if the point can be simulated.
pub(crate) fn check(
    machine: &Description,
    cores: u32,
    updates_percent: f64,
    length: RunLength,
) -> Result<Simulation, LduError> {
    if !(updates_percent > 0.0 && updates_percent <= 100.0) {
        return Err(LduError::Updates(updates_percent));
    }
    Ok(Simulation::new(machine, Options { cores, seed: length.seed })?)
}

/// How many times the counted time may be put off or made longer if there were too few forks. Each
/// time, it is a quarter of what was planned.
const STEPS: u32 = 60;

struct Run<'a> {
    setting: &'a Setting,
    scheme: SchemeId,
    machine: &'a Description,
    cores: u32,
    updates_percent: f64,
    length: RunLength,
    simulation: Simulation,
}

impl Run<'_> {
    /// The number of tasks: one on each core, unless the workload has fewer.
    fn tasks(&self) -> u32 {
        self.setting.at_once.map_or(self.cores, |most| most.min(self.cores))
    }

    fn progress(&self, clock_ghz: f64) -> Progress {
        let Setting { forks, user_us, system_us, fork_us, execs, exec_us, .. } = *self.setting;
        let us = (user_us + system_us) / forks + fork_us + execs * exec_us;
        let RunLength { forks_per_core, forks, warm_us, counted_us, warm_forks, .. } = self.length;
        let pieces = forks_per_core.max(forks.div_ceil(self.tasks()));
        let all = u64::from(pieces) * u64::from(self.tasks());
        let cycles_per_us = clock_ghz * 1e3;
        let warm = (us * f64::from(pieces) * 0.25).max(warm_us) * cycles_per_us;
        let counted = (us * f64::from(pieces)).max(counted_us) * cycles_per_us;
        Progress {
            warm: Cell::new(Cycles(warm as u64)),
            end: Cell::new(Cycles((warm + counted) as u64)),
            step: Cycles((warm + counted) as u64 / 4),
            steps_left: Cell::new(STEPS),
            unseen: Cell::new(0),
            pieces: Cell::new(0),
            wanted_unseen: if self.tasks() > 1 { u64::from(warm_forks) } else { 0 },
            wanted: (all / 4).min(u64::from(forks)),
            running: Cell::new(self.tasks()),
            tasks: self.tasks(),
            spent: Cell::new(Spent::default()),
            updates: Cell::new(0),
            walks: Cell::new(0),
        }
    }
}

impl SchemeVisitor for Run<'_> {
    type Output = Result<Point, LduError>;

    fn visit<F: Scheme<Sim>, A: Scheme<Sim>>(mut self) -> Self::Output {
        let clock_ghz = self.machine.clock_ghz.value;
        let updates = self.updates_percent / 100.0;
        let world = Rc::new(World::<F, A>::new(
            self.cores,
            self.setting.clone(),
            (1.0 - updates) / updates,
            clock_ghz,
            self.progress(clock_ghz),
        ));
        let tasks = u64::from(self.tasks());
        let relays: Vec<_> = (0..tasks).map(|_| Rc::new(Relay::new())).collect();
        for (task, relay) in (0..tasks).zip(&relays) {
            let (world, relay) = (Rc::clone(&world), Rc::clone(relay));
            let random = Random::new(self.length.seed, 1 + task);
            let ids = Ids { next: task, step: tasks };
            self.simulation.spawn(move || Parent::new(&world, &relay, random, ids).run())?;
        }
        // The children are spawned after all parents. If there are as many parents as cores, each
        // child then starts on the core of its parent.
        for (task, relay) in (0..tasks).zip(&relays) {
            let (world, relay) = (Rc::clone(&world), Rc::clone(relay));
            let random = Random::new(self.length.seed, 1 + tasks + task);
            self.simulation.spawn(move || Children::new(&world, &relay, random).run())?;
        }
        let flushed = Rc::clone(&world);
        self.simulation.spawn(move || flush_now_and_then(&flushed))?;
        self.simulation.run()?;
        let progress = &world.progress;
        let seconds = progress.end.get().since(progress.warm.get()).0 as f64 / (clock_ghz * 1e9);
        let Spent { all, busy, user } = progress.spent.get();
        // Cores without a task are idle.
        let capacity = all as f64 * f64::from(self.cores) / tasks as f64;
        let (user, busy) = (user as f64 / capacity, busy as f64 / capacity);
        let operations = (progress.updates.get() + progress.walks.get()).max(1);
        Ok(Point {
            scheme: self.scheme.name(),
            cores: self.cores,
            updates_percent: 100.0 * progress.updates.get() as f64 / operations as f64,
            throughput_per_s: progress.pieces.get() as f64 / self.setting.forks / seconds,
            user,
            sys: busy - user,
            idle: 1.0 - busy,
        })
    }
}
