//! Simulates one point.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_locks::{LockVisitor, RawLock};
use kilocore_machine::Description;
use kilocore_platform::Cycles;
use kilocore_points::Elsewhere;
use kilocore_sched_policy::{
    GroupState, GroupStatus, LockAware, LockAwareOptions, Policy, PolicyName,
};
use kilocore_sim::{Options, Outcome, Random, Sim, SimError, Simulation, TaskTimes};
use thiserror::Error;

use crate::sched::driver::{Driver, Noise};
use crate::sched::locks::algorithm::KernelLock;
use crate::sched::locks::load::Load;
use crate::sched::locks::point::{Point, jain};
use crate::sched::locks::process::{Done, World};
use crate::sched::record::{Record, Span};

/// How much is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLength {
    /// The length of a window in microseconds, at least 1.
    pub window_us: u32,
    /// How many windows count, at least one.
    pub windows: u32,
    /// How many windows pass before those that count; as many as the policy needs if not given.
    pub warm_up: Option<u32>,
    /// The seed of all pseudorandom numbers.
    pub seed: u64,
}

impl Default for RunLength {
    fn default() -> Self {
        Self { window_us: 1000, windows: 200, warm_up: None, seed: 1 }
    }
}

/// A point to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    /// What the processes do.
    pub load: Load,
    /// The locks of the kernel.
    pub lock: KernelLock,
    /// The policy that schedules the processes.
    pub policy: PolicyName,
    /// The constants of the lock-aware policy, if that schedules.
    pub lock_aware: LockAwareOptions,
    /// Cores in use, each with a process.
    pub cores: u32,
    /// By how many per cent what the policy sees may be wrong, at most 100.
    pub noise: u32,
    /// How much is simulated.
    pub length: RunLength,
}

/// Why an experiment cannot be simulated.
#[derive(Debug, Error)]
pub enum LocksError {
    /// The simulation could not be set up, or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// No window counts, or the windows are too short.
    #[error("no window counts; choose at least one, of at least a microsecond")]
    Windows,
    /// The point is simulated by another process.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
}

impl Job {
    /// The windows that count. Those before them are enough for the policy's search, or for a policy
    /// that does not search to place its tasks.
    #[must_use]
    pub fn span(&self) -> Span {
        let enough = match self.policy {
            PolicyName::LockAware => self.lock_aware.longest_search(self.cores) + PLACING,
            // It gives up a core at a time.
            PolicyName::Malthusian => self.cores + PLACING,
            _ => PLACING,
        };
        Span { warm_up: self.length.warm_up.unwrap_or(enough).max(1), windows: self.length.windows }
    }

    fn scheduler(&self) -> Box<dyn Policy> {
        match self.policy {
            PolicyName::LockAware => Box::new(LockAware::new(self.lock_aware)),
            other => other.policy(),
        }
    }
}

/// Windows in which tasks get to their places, and their caches warm.
const PLACING: u32 = 20;

/// Simulates a point.
///
/// # Errors
/// [`LocksError`] if the machine does not have the cores, or no window counts.
///
/// # Panics
/// If a simulated process panics.
pub fn simulate(job: &Job, machine: &Description) -> Result<Point, LocksError> {
    check(job, machine)?;
    job.lock.code().visit::<Sim, _>(Simulate { job, machine })
}

/// Whether a point can be simulated.
pub(crate) fn check(job: &Job, machine: &Description) -> Result<(), LocksError> {
    if job.length.windows == 0 || job.length.window_us == 0 {
        return Err(LocksError::Windows);
    }
    Simulation::new(machine, options(job))?;
    Ok(())
}

fn options(job: &Job) -> Options {
    Options { cores: job.cores, seed: job.length.seed }
}

struct Simulate<'a> {
    job: &'a Job,
    machine: &'a Description,
}

impl LockVisitor<Sim> for Simulate<'_> {
    type Output = Result<Point, LocksError>;

    fn visit<L: RawLock<Sim>>(self) -> Self::Output {
        let Self { job, machine } = self;
        let RunLength { window_us, seed, .. } = job.length;
        let ghz = machine.clock_ghz.value;
        let window = Cycles((f64::from(window_us) * 1000.0 * ghz).round() as u64);
        let span = job.span();
        let marks = (window * u64::from(span.warm_up), window * u64::from(span.end()));
        let mut simulation = Simulation::new(machine, options(job))?;
        let world = Rc::new(World::<L>::new(job.load, ghz, job.lock.keeps_core(), marks));
        let done: Vec<Rc<Done>> = (0..job.cores).map(|_| Rc::default()).collect();
        for (process, done) in (0..).zip(&done) {
            let (world, done) = (Rc::clone(&world), Rc::clone(done));
            let random = Random::new(seed, process);
            simulation.spawn(move || world.run(random, &done))?;
        }
        let noise = Noise::new(job.noise, seed);
        let driver = Driver::new(job.scheduler(), machine, job.cores, window, span, noise);
        let record = driver.record();
        simulation.schedule_with(Box::new(driver));
        let outcome = simulation.run()?;
        Ok(point(job, machine, window, &done, &record, outcome))
    }
}

fn point(
    job: &Job,
    machine: &Description,
    window: Cycles,
    done: &[Rc<Done>],
    record: &RefCell<Record>,
    outcome: Outcome,
) -> Point {
    let record = record.borrow();
    let span = job.span();
    let seconds =
        |windows: u32| (window * u64::from(windows)).0 as f64 / (machine.clock_ghz.value * 1e9);
    let counted: Vec<u64> = done.iter().map(|done| done.counted.get()).collect();
    let operations: u64 = counted.iter().sum();
    let all: u64 = done.iter().map(|done| done.all.get()).sum();
    let joules = joules(record.times(), window * u64::from(span.windows), outcome, machine);
    Point {
        load: job.load.name,
        lock: job.lock,
        policy: job.policy.to_string(),
        cores: job.cores,
        throughput: operations as f64 / seconds(span.windows),
        throughput_with_search: all as f64 / seconds(span.end()),
        speedup: None,
        waiting: record.waiting(),
        watts: joules / seconds(span.windows),
        joules,
        joules_per_operation: joules / operations.max(1) as f64,
        fairness: jain(&counted),
        k: confined_to(job.policy, &record),
        found_after: found_after(job.policy, &record),
        windows: span.windows,
    }
}

/// On how many cores a policy has the processes.
fn confined_to(policy: PolicyName, record: &Record) -> Option<u32> {
    match policy {
        PolicyName::Confined(cores) => Some(cores),
        _ => record.groups().iter().map(cores_of).max(),
    }
}

/// On how many cores a group is, but for a neighbouring number that is being tried.
fn cores_of(group: &GroupStatus) -> u32 {
    match group.state {
        GroupState::Probing => group.best,
        GroupState::Free | GroupState::Searching | GroupState::Holding => group.cpus.len(),
    }
}

/// After how many windows of contention the policy knew on how many cores, if it searched.
fn found_after(policy: PolicyName, record: &Record) -> Option<u32> {
    let found = record.groups().iter().filter_map(|group| group.found).max();
    let searches = policy == PolicyName::LockAware;
    found.filter(|_| searches).and_then(|windows| u32::try_from(windows).ok())
}

/// The energy of the windows that count.
fn joules(times: Vec<TaskTimes>, span: Cycles, outcome: Outcome, machine: &Description) -> f64 {
    let counted = Outcome { end: span, tasks: times, ..outcome };
    counted.energy_joules(&machine.power)
}
