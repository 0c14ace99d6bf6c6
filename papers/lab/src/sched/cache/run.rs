//! One simulation: a mix under a policy, from one order of its tasks.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_platform::{Cycles, Platform as _};
use kilocore_points::Elsewhere;
use kilocore_sched_policy::Policy;
use kilocore_sim::occupancy::{Hardware, Program};
use kilocore_sim::{Options, Random, Sim, SimError, Simulation};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::mix::Mix;
use super::setting::Setting;
use crate::sched::driver::{Driver, Noise};
use crate::sched::record::Span;

/// What the tasks of a mix did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Figures", into = "Figures")]
pub struct Ran {
    /// Instructions of each task, in the order of the mix.
    pub instructions: Vec<f64>,
    /// Time on cores of each task, in cycles.
    pub on_core: Vec<Cycles>,
    /// When all were over.
    pub end: Cycles,
    /// Energy of the sockets.
    pub joules: f64,
}

/// The same in figures of other types, in which it is kept. Times are in cycles.
#[derive(Serialize, Deserialize)]
struct Figures {
    instructions: Vec<f64>,
    on_core: Vec<u64>,
    end: u64,
    joules: f64,
}

impl From<Figures> for Ran {
    fn from(figures: Figures) -> Self {
        let Figures { instructions, on_core, end, joules } = figures;
        let on_core = on_core.into_iter().map(Cycles).collect();
        Self { instructions, on_core, end: Cycles(end), joules }
    }
}

impl From<Ran> for Figures {
    fn from(ran: Ran) -> Self {
        let Ran { instructions, on_core, end, joules } = ran;
        let on_core = on_core.into_iter().map(|cycles| cycles.0).collect();
        Self { instructions, on_core, end: end.0, joules }
    }
}

/// Why a mix could not be run.
#[derive(Debug, Error)]
pub enum RunError {
    /// The simulated machine could not be set up, or the tasks did not end.
    #[error("{mix}: {error}")]
    Simulation {
        /// The name of the mix.
        mix: &'static str,
        /// Why the simulation failed.
        error: SimError,
    },
    /// The optimum was asked for, and tasks do not fill the cores evenly.
    #[error(
        "no optimum of {tasks} tasks on {cores} cores of {machine}: choose a number of cores that divides {tasks} and fills whole last-level caches"
    )]
    NoOptimum {
        /// The name of the machine.
        machine: String,
        /// Tasks of a mix.
        tasks: usize,
        /// How many cores were asked for.
        cores: u32,
    },
    /// The run is simulated, or the optimum is looked for, by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

/// How long a task computes between two looks at what others do.
const STRETCH_NS: f64 = 100_000.0;

/// Runs a mix. `policy` gets the order of the tasks: at each place the number of a task of the mix.
///
/// # Errors
/// If the machine does not have as many cores.
pub fn run(
    setting: &Setting,
    mix: &Mix,
    seed: u64,
    policy: &dyn Fn(&[usize]) -> Box<dyn Policy>,
) -> Result<Ran, RunError> {
    simulate(setting, mix, seed, policy)
        .map_err(|error| RunError::Simulation { mix: mix.name, error })
}

fn simulate(
    setting: &Setting,
    mix: &Mix,
    seed: u64,
    policy: &dyn Fn(&[usize]) -> Box<dyn Policy>,
) -> Result<Ran, SimError> {
    let machine = &setting.machine;
    let mut simulation = Simulation::new(machine, Options { cores: setting.cores, seed })?;
    let hardware = Hardware::new(machine, setting.cores);
    simulation.share_caches(hardware);
    let mut random = Random::new(seed, ORDER_STREAM);
    let order = shuffled(mix.programs.len(), &mut random);
    let ghz = machine.clock_ghz.value;
    let window = Cycles((setting.window.0 as f64 * ghz).round() as u64);
    // Nothing of what the driver remembers is asked for.
    let span = Span { warm_up: 0, windows: u32::MAX };
    let noise = Noise::new(setting.noise, seed);
    let policy = policy(&order);
    let driver = Driver::new(policy, machine, setting.cores, window, span, noise);
    simulation.schedule_with(Box::new(driver));
    let done = Rc::new(RefCell::new(vec![0.0; order.len()]));
    for &task in &order {
        let mut runner = Runner {
            program: mix.programs[task].clone(),
            part: 0,
            left: 0.0,
            stretch: STRETCH_NS * ghz,
            until: Cycles((setting.duration.0 as f64 * ghz) as u64),
        };
        runner.begin(random.uniform());
        let done = Rc::clone(&done);
        simulation.spawn(move || done.borrow_mut()[task] = runner.run())?;
    }
    let outcome = simulation.run()?;
    let mut on_core = vec![Cycles(0); order.len()];
    for (place, &task) in order.iter().enumerate() {
        on_core[task] = outcome.tasks[place].total();
    }
    Ok(Ran {
        instructions: done.take(),
        on_core,
        end: outcome.end,
        joules: outcome.energy_joules(&machine.power),
    })
}

/// The random numbers for the order of tasks and where they begin.
const ORDER_STREAM: u64 = 0x6d69_7865;

/// `0..count` in a random order.
fn shuffled(count: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let other = (random.uniform() * (last + 1) as f64) as usize;
        order.swap(last, other.min(last));
    }
    order
}

/// A task that runs a program again and again.
#[derive(Debug)]
struct Runner {
    program: Program,
    part: usize,
    /// Instructions left of the part.
    left: f64,
    /// Cycles between two looks.
    stretch: f64,
    until: Cycles,
}

impl Runner {
    /// Begins at this share of an iteration.
    fn begin(&mut self, share: f64) {
        let iteration = self.program.instructions() / f64::from(self.program.iterations);
        let mut skipped = share * iteration;
        for (number, part) in self.program.parts.iter().enumerate() {
            (self.part, self.left) = (number, part.instructions - skipped);
            if self.left > 0.0 {
                return;
            }
            skipped -= part.instructions;
        }
        self.next_part();
    }

    fn next_part(&mut self) {
        self.part = (self.part + 1) % self.program.parts.len();
        self.left = self.program.parts[self.part].instructions;
    }

    /// Runs until the end of the experiment. Returns how many instructions that were.
    fn run(&mut self) -> f64 {
        let mut speed = 1.0;
        let mut done = 0.0;
        while Sim::now() < self.until {
            let step = self.left.min(speed * self.stretch);
            let executed = Sim::execute(&self.program.parts[self.part].phase, step);
            done += step;
            speed = executed.instructions / executed.cycles;
            self.left -= step;
            // What is left by rounding is no stretch of its own.
            if self.left < 1.0 {
                self.next_part();
            }
        }
        done
    }
}
