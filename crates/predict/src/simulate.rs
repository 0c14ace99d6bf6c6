//! One workload on one machine with one lock and one number of cores.

use std::rc::Rc;

use kilocore_locks::{LockId, LockVisitor, RawLock};
use kilocore_machine::Description;
use kilocore_platform::{Cycles, Padded, Platform, SharedCell};
use kilocore_sim::{Options, Random, Sim, SimCell, SimError, Simulation};
use thiserror::Error;

use crate::any_lock::{AnyLock, LockThread};
use crate::memory::{Fetcher, whole_number};
use crate::point::Point;
use crate::progress::{End, Progress};
use crate::workload::{LockUse, Mode, Section, Workload};

/// How much of a workload is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunSize {
    /// Threads; as many as cores if not given.
    pub threads: Option<u32>,
    /// Outermost sections that are counted, after a quarter as many that are not.
    pub sections: u64,
    /// Seeds all chance.
    pub seed: u64,
    /// Whether threads that wait long offer their cores to others, as Kilocore's locks do and most
    /// other implementations do not.
    pub waiters_yield: bool,
    /// Time slices of each thread that a point with more threads than cores lasts, at the least.
    pub slices: u32,
}

impl Default for RunSize {
    fn default() -> Self {
        Self { threads: None, sections: 16_000, seed: 1, waiters_yield: true, slices: 10 }
    }
}

/// Why a point could not be simulated.
#[derive(Debug, Error)]
pub enum PointError {
    /// The simulation could not be set up or did not end.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The threads asked for are none, or too many for the host's memory.
    #[error("cannot simulate {0} threads (choose 1 to 8192)")]
    Threads(u32),
}

/// The largest number of threads: each takes a stack on the host.
const MOST_THREADS: u32 = 8192;

/// Simulates a point.
///
/// # Errors
/// [`PointError`] if the machine has not got the cores, or the host not the memory for the
/// threads.
pub fn simulate(
    workload: &Workload,
    lock: LockId,
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<Point, PointError> {
    let (threads, simulation) = set_up(machine, cores, size)?;
    lock.visit(PointRun { workload, lock, machine, cores, threads, size, simulation })
}

/// Sleeps last this long on average, or longer: profiles tell sleeping from computing in intervals
/// above some 20 µs only, and a thread that sleeps has to be woken again.
const SHORTEST_SLEEP_US: f64 = 50.0;

/// How many threads a point has, and the machine that they run on.
pub(crate) fn set_up(
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<(u32, Simulation), PointError> {
    let threads = size.threads.unwrap_or(cores);
    if threads == 0 || threads > MOST_THREADS {
        return Err(PointError::Threads(threads));
    }
    let mut simulation = Simulation::new(machine, Options { cores, seed: size.seed })?;
    if !size.waiters_yield {
        simulation.keep_waiters_on_cores();
    }
    Ok((threads, simulation))
}

struct PointRun<'a> {
    workload: &'a Workload,
    lock: LockId,
    machine: &'a Description,
    cores: u32,
    threads: u32,
    size: RunSize,
    simulation: Simulation,
}

impl PointRun<'_> {
    fn end(&self) -> End {
        let Self { machine, cores, threads, size, .. } = self;
        if threads <= cores {
            return End::Sections(size.sections);
        }
        // Threads that take turns on a core are only seen to do so over many time slices.
        let slices = f64::from(size.slices * threads.div_ceil(*cores));
        let us = machine.os.time_slice_us.value * slices;
        End::Time(Cycles((us * 1000.0 * machine.clock_ghz.value) as u64), size.sections)
    }
}

/// A lock of the program and the data that it protects.
struct Instance<L> {
    lock: AnyLock<L>,
    lines: Vec<Padded<SimCell<u64>>>,
}

/// What all threads of a point share.
struct Shared<L> {
    workload: Workload,
    machine: Description,
    cores: u32,
    locks: Vec<Vec<Instance<L>>>,
    /// The mean of sleeps is at least so many cycles.
    shortest_sleep: f64,
    progress: Progress,
}

impl LockVisitor<Sim> for PointRun<'_> {
    type Output = Result<Point, PointError>;

    fn visit<L: RawLock<Sim>>(mut self) -> Self::Output {
        let shared = Rc::new(Shared::<L>::new(&self));
        for thread in 0..self.threads {
            let shared = Rc::clone(&shared);
            let random = Random::new(self.size.seed, 1 + u64::from(thread));
            self.simulation.spawn(move || Thread::new(&shared, thread as usize, random).run())?;
        }
        let outcome = self.simulation.run()?;
        Ok(Point::new(self.lock.name(), self.machine, self.cores, &outcome, &shared.progress))
    }
}

impl<L: RawLock<Sim>> Shared<L> {
    fn new(run: &PointRun<'_>) -> Self {
        let PointRun { workload, threads, .. } = *run;
        let lines_of = |lock: usize| {
            fn most(section: &Section, lock: usize) -> f64 {
                let own = if section.lock == lock { section.lines } else { 0.0 };
                section.inner.iter().map(|i| most(&i.section, lock)).fold(own, f64::max)
            }
            workload.sections.iter().map(|(_, s)| most(s, lock)).fold(0.0, f64::max).ceil()
        };
        let locks = workload.locks.iter().enumerate().map(|(index, lock)| {
            let instance = |_| Instance {
                lock: AnyLock::new(lock),
                lines: (0..lines_of(index) as usize).map(|_| Padded(SimCell::new(0))).collect(),
            };
            let owners = if lock.per_thread { threads } else { 1 };
            (0..lock.instances * owners).map(instance).collect()
        });
        Self {
            locks: locks.collect(),
            workload: workload.clone(),
            shortest_sleep: SHORTEST_SLEEP_US * 1e3 * run.machine.clock_ghz.value,
            machine: run.machine.clone(),
            cores: run.cores,
            progress: Progress::new(run.end(), threads, workload.locks.len()),
        }
    }

    /// What the calling thread fetches its data with, if it has any.
    fn fetcher(&self, random: &mut Random) -> Option<Fetcher> {
        let usage = self.workload.memory?;
        Some(Fetcher::new(usage, &self.machine, self.cores, random))
    }
}

/// One simulated thread.
struct Thread<'a, L: RawLock<Sim>> {
    shared: &'a Shared<L>,
    number: usize,
    random: Random,
    lock_thread: LockThread<L>,
    fetcher: Option<Fetcher>,
}

impl<'a, L: RawLock<Sim>> Thread<'a, L> {
    fn new(shared: &'a Shared<L>, number: usize, mut random: Random) -> Self {
        let fetcher = shared.fetcher(&mut random);
        Self { shared, number, random, lock_thread: LockThread::new(), fetcher }
    }

    fn run(mut self) {
        let shared = self.shared;
        let workload = &shared.workload;
        while !shared.progress.over() {
            Sim::work(workload.think.sample(&mut self.random));
            if let Some(fetcher) = &mut self.fetcher {
                fetcher.fetch(1.0, &mut self.random);
            }
            self.sleep();
            let mut choice = self.random.uniform();
            let chosen = workload.sections.iter().find(|(share, _)| {
                choice -= share;
                choice < 0.0
            });
            if let Some((_, section)) = chosen.or(workload.sections.last()) {
                self.enter(section);
            }
            if workload.sections.is_empty() {
                // Nothing else may have let the other threads catch up.
                Sim::catch_up();
            }
            shared.progress.finish(self.number);
        }
    }

    /// Sleeps for as long as threads do on average between two sections: rarely, if that is so
    /// short that no thread would sleep for it each time.
    fn sleep(&mut self) {
        let mean = self.shared.workload.asleep;
        let shortest = self.shared.shortest_sleep;
        if mean <= 0.0 || self.random.uniform() >= mean / mean.max(shortest) {
            return;
        }
        Sim::sleep(Cycles(self.random.exponential(mean.max(shortest)).round() as u64));
    }

    fn enter(&mut self, section: &Section) {
        let shared = self.shared;
        let instances = &shared.locks[section.lock];
        let LockUse { instances: choices, per_thread, .. } = shared.workload.locks[section.lock];
        let pick = (self.random.uniform() * f64::from(choices)) as usize;
        let own = if per_thread { self.number * choices as usize } else { 0 };
        let instance = &instances[own + pick];
        let asked = Sim::now();
        instance.lock.acquire(section.mode, &mut self.lock_thread);
        let waited = Sim::now().since(asked);
        let progress = &shared.progress;
        progress.waited.set(progress.waited.get() + waited.0);
        self.work_inside(section, instance);
        let done = Sim::now();
        // SAFETY: taken above by this thread, in the same mode.
        unsafe { instance.lock.release(section.mode, &mut self.lock_thread) };
        let released = Sim::now().since(done);
        progress.in_locks.borrow_mut()[section.lock] += waited.0 + released.0;
    }

    fn work_inside(&mut self, section: &Section, instance: &Instance<L>) {
        let lines = whole_number(section.lines, &mut self.random);
        for line in instance.lines.iter().take(lines) {
            match section.mode {
                // SAFETY: the holder of the exclusive lock is alone with its data.
                Mode::Exclusive => line.with_mut(|data| unsafe { data.write(data.read() + 1) }),
                // SAFETY: readers share the data with readers only.
                Mode::Shared => line.with(|data| unsafe { _ = data.read_volatile() }),
            };
        }
        Sim::work(section.hold.sample(&mut self.random));
        for inner in &section.inner {
            for _ in 0..whole_number(inner.times, &mut self.random) {
                self.enter(&inner.section);
            }
        }
    }
}
