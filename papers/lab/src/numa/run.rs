//! One run under one policy.

use std::cell::RefCell;
use std::rc::Rc;

use crate::numa_programs::{OutOfRange, Program, Run, Size, WrongResult};
use kilocore_machine::Description;
use kilocore_placement::{
    Driven, MOST_PROCESSORS, Memory, OptionsError, Outcome, Rule, Setting, Synthetic,
    SyntheticError,
};
use kilocore_platform::Cycles;
use kilocore_points::Elsewhere;
use kilocore_sim::{Options as Cores, Sim, SimError, Simulation};
use serde::Serialize;
use thiserror::Error;

/// Where references come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// A program on simulated processors.
    Program(Program, Size),
    /// References that are drawn at random, by a model of a program.
    Synthetic(Synthetic),
}

impl Load {
    /// Returns the program's name, or `synthetic`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Program(program, _) => program.name(),
            Self::Synthetic(_) => "synthetic",
        }
    }
}

/// A point to simulate: references under a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job<'a> {
    /// The machine, and everything else.
    pub setting: &'a Setting,
    /// Where references come from.
    pub load: Load,
    /// The policy that copies and moves pages.
    pub rule: Rule,
    /// The initial delay, of policies that have one.
    pub delay: u32,
}

/// What a policy has come to for a program's references.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The program, or `synthetic`.
    pub program: &'static str,
    /// What the policy has come to.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The time on the last processor's clock at the end, in cycles.
    pub end_cycles: u64,
}

/// Why something cannot be simulated.
#[derive(Debug, Error)]
pub enum NumaError {
    /// Too many processors, or none.
    #[error("cannot simulate {0} processors: choose 1 to {MOST_PROCESSORS}")]
    Processors(u32),
    /// There is no such machine.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// There are no such references.
    #[error(transparent)]
    Synthetic(#[from] SyntheticError),
    /// The program cannot be had like this.
    #[error(transparent)]
    Program(#[from] OutOfRange),
    /// The program computed something wrong.
    #[error(transparent)]
    Wrong(#[from] WrongResult),
    /// The simulated machine could not be set up, or the program did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The point is simulated by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

/// Simulates a job.
///
/// # Errors
/// [`NumaError`] if the job makes no sense, or the program's result is wrong.
///
/// # Panics
/// If a thread of the program panics.
pub fn simulate(job: &Job<'_>) -> Result<Point, NumaError> {
    check(job)?;
    let memory = job.setting.memory(job.rule, job.delay)?;
    let (end, memory) = match job.load {
        Load::Program(program, size) => run_program(job.setting, program, size, memory)?,
        Load::Synthetic(synthetic) => {
            let mut memory = memory;
            (synthetic.refer(&mut memory)?, memory)
        }
    };
    let outcome = Outcome::of(&memory, job.rule, job.delay);
    Ok(Point { program: job.load.name(), outcome, end_cycles: end.0 })
}

/// Whether a job can be simulated.
///
/// # Errors
/// As [`simulate`].
pub(super) fn check(job: &Job<'_>) -> Result<(), NumaError> {
    let processors = job.setting.options.processors();
    if !(1..=MOST_PROCESSORS).contains(&processors) {
        return Err(NumaError::Processors(processors));
    }
    job.setting.options.check()?;
    match job.load {
        Load::Program(..) => Ok(()),
        Load::Synthetic(synthetic) => Ok(synthetic.check()?),
    }
}

fn run_program(
    setting: &Setting,
    program: Program,
    size: Size,
    memory: Memory,
) -> Result<(Cycles, Memory), NumaError> {
    let (processors, seed) = (setting.options.processors(), setting.options.seed);
    let cores = Cores { cores: processors, seed };
    let mut simulation = Simulation::new(&with_cores(processors), cores)?;
    let run = program.prepare::<Sim>(size, processors as usize, seed)?;
    let private: Vec<_> = run.private_memory().into_iter().map(|(_, range)| range).collect();
    let memory = Rc::new(RefCell::new(memory));
    simulation.replace_caches(Box::new(Driven::new(Rc::clone(&memory), setting.page, &private)));
    for index in 0..processors as usize {
        let run = run.clone();
        simulation.spawn(move || run.thread(index))?;
    }
    let end = simulation.run()?.end;
    Run::check(&*run)?;
    let memory = Rc::into_inner(memory).expect("the simulation is over");
    Ok((end, memory.into_inner()))
}

/// A machine file with so many cores. Without caches, only what threads cost the kernel is used of it,
/// and each core has one thread.
fn with_cores(cores: u32) -> Description {
    let mut machine = kilocore_machine::find("opteron-6344-4s").expect("it comes with the crate");
    let topology = &mut machine.topology;
    if topology.cores() < cores {
        topology.sockets = cores.div_ceil(topology.cores() / topology.sockets);
        // They are of the sockets that there were.
        topology.hops.clear();
    }
    machine
}
