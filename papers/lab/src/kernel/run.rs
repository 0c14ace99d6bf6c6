//! Simulates one scheme on one number of cores.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use kilocore_kernel_path::{Path, PathError};
use kilocore_machine::Description;
use kilocore_machine::names::UnknownName;
use kilocore_platform::Cycles;
use kilocore_points::{Elsewhere, Name, read_name};
use kilocore_sim::{Options, Random, SimError, Simulation};
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

use crate::kernel::program::{Plan, Seat, program, tree_locks};
use crate::kernel::replay::Replay;
use crate::kernel::schemes::TreeScheme;
use crate::kernel::tally::{Limiter, Tally, TreeUse};
use crate::kernel::world::World;

/// Everything that is the same for all points.
#[derive(Debug, Clone)]
pub struct Setting {
    /// What is replayed.
    pub path: Path,
    /// How long an instruction takes, in cycles, if nobody else is there.
    pub cycles_per_instruction: f64,
    /// For how long a core computes between two operations, in microseconds, in the mean.
    pub between_us: f64,
    /// How many operations a core would do during the time that is counted, if it were alone.
    pub operations: u32,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// One point to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// What is replayed.
    pub setting: &'a Setting,
    /// How trees are shared.
    pub scheme: TreeScheme,
    /// How many cores replay it.
    pub cores: u32,
}

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The scheme's name.
    #[serde(deserialize_with = "read_scheme_name")]
    pub scheme: Name,
    /// How many cores replayed the path.
    pub cores: u32,
    /// Operations per second.
    pub operations_per_s: f64,
    /// Operations that were counted.
    pub operations: u64,
    /// The share of the cores' time in which they slept.
    pub idle: f64,
    /// What cores waited for most, the most first: at most ten.
    pub limiters: Vec<Limiter>,
    /// How trees were used.
    pub trees: TreeUse,
}

/// Why a path cannot be replayed.
#[derive(Debug, Error)]
pub enum KernelError {
    /// The simulation could not be set up, or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// There is no path of this name.
    #[error(transparent)]
    Name(#[from] UnknownName),
    /// The file cannot be read.
    #[error("{file}: {error}")]
    File {
        /// The file.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// The file is no path.
    #[error("{file}: {error}; linux/paths/record makes such files")]
    Path {
        /// The file, or the name of a path.
        file: String,
        /// What is wrong.
        error: PathError,
    },
    /// The point is simulated by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

fn read_scheme_name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    read_name(from, TreeScheme::ALL.iter().map(|scheme| scheme.name()))
}

/// For how many operations of a core alone nothing is counted at first.
const WARM: f64 = 40.0;

/// Simulates a point.
///
/// # Errors
/// [`KernelError`] if the machine does not have the cores, or the simulation does not end.
pub fn simulate(job: &Job<'_>, machine: &Description) -> Result<Point, KernelError> {
    let Job { setting, scheme, cores } = *job;
    let path = &setting.path;
    let mut simulation = Simulation::new(machine, Options { cores, seed: setting.seed })?;
    let cycles_per_us = machine.clock_ghz.value * 1e3;
    let between = Cycles((setting.between_us * cycles_per_us) as u64);
    let longest = (0..path.processors).map(|processor| path.instructions(processor)).max();
    let alone = longest.unwrap_or(0) as f64 * setting.cycles_per_instruction + between.0 as f64;
    let warm = Cycles((alone * WARM) as u64);
    let end = Cycles((alone * (WARM + f64::from(setting.operations))) as u64);
    let trees = tree_locks(path);
    let mut plan = Plan::default();
    let programs: Vec<_> = (0..cores)
        .map(|core| program(path, &trees, scheme, seat(machine, core), &mut plan))
        .collect();
    let world = Rc::new(World::new(&plan));
    let tally = Rc::new(RefCell::new(Tally {
        locks: vec![0; path.locks.len()],
        lines: vec![0; path.lines.len()],
        ..Tally::default()
    }));
    for (core, program) in programs.into_iter().enumerate() {
        let replay = Replay {
            world: Rc::clone(&world),
            tally: Rc::clone(&tally),
            program: Rc::new(program),
            scheme,
            cycles_per_instruction: setting.cycles_per_instruction,
            between,
            // `i_mmap_log_limit` in the kernel.
            limit: (64 * cores).max(512),
            random: Random::new(setting.seed, 1 + core as u64),
            warm,
            end,
            held: HashMap::new(),
            mappings: HashMap::new(),
            stretch: 1.0,
            owed: 0.0,
        };
        simulation.spawn(move || replay.run())?;
    }
    simulation.run()?;
    let tally = tally.borrow();
    let seconds = (end.0 - warm.0) as f64 / (cycles_per_us * 1e6);
    Ok(Point {
        scheme: scheme.name(),
        cores,
        operations_per_s: tally.operations as f64 / seconds,
        operations: tally.operations,
        idle: 1.0 - tally.busy as f64 / tally.elapsed.max(1) as f64,
        limiters: tally.limiters(path),
        trees: tally.trees,
    })
}

/// Where a core is. Cores are numbered node by node, and second threads of cores last.
fn seat(machine: &Description, core: u32) -> Seat {
    let of_a_node = machine.topology.cores_per_node();
    let cores = machine.topology.cores();
    let (thread, core) = (core / cores, core % cores);
    Seat { node: core / of_a_node, index: core % of_a_node + thread * of_a_node }
}
