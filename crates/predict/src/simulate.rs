//! One workload on one machine with one lock and one number of cores.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kilocore_locks::{CentralRw, LockId, LockVisitor, RawLock};
use kilocore_machine::Description;
use kilocore_platform::{Cycles, Padded, Platform, SharedCell};
use kilocore_sim::{Activity, Options, Random, Sim, SimCell, SimError, Simulation};
use serde::Serialize;
use thiserror::Error;

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
}

impl Default for RunSize {
    fn default() -> Self {
        Self { threads: None, sections: 16_000, seed: 1 }
    }
}

/// The result: one point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The lock.
    pub lock: &'static str,
    /// Cores.
    pub cores: u32,
    /// Threads on them.
    pub threads: u32,
    /// Outermost sections finished per second of simulated time.
    pub throughput_per_s: f64,
    /// Half the width of the 95 % confidence interval of that, from the simulation's own chance.
    pub throughput_error_per_s: f64,
    /// Share of the threads' time between asking for a lock and having it.
    pub wait_share: f64,
    /// Share of the threads' time inside the operations of each lock of the workload, or group of
    /// locks that are used alike: waiting for it, taking it and letting it go.
    pub lock_share_by_lock: Vec<f64>,
    /// Energy for each section, everything of the sockets in use included.
    pub joules_per_op: f64,
    /// Share of the cores' time spent computing.
    pub working_share: f64,
    /// Share spent waiting for cache lines.
    pub stalled_share: f64,
    /// Share spent spinning.
    pub spinning_share: f64,
    /// Share spent in low-power waits.
    pub low_power_share: f64,
    /// Share spent in the operating system.
    pub system_share: f64,
    /// The rest: cores with nothing to run.
    pub idle_share: f64,
    /// Sections of the thread that finished the fewest, as a share of the mean.
    pub fairness: f64,
}

#[cfg(test)]
impl Point {
    /// A point without figures.
    pub(crate) fn empty(lock: &'static str) -> Self {
        Self {
            lock,
            cores: 1,
            threads: 1,
            throughput_per_s: 0.0,
            throughput_error_per_s: 0.0,
            wait_share: 0.0,
            lock_share_by_lock: Vec::new(),
            joules_per_op: 0.0,
            working_share: 0.0,
            stalled_share: 0.0,
            spinning_share: 0.0,
            low_power_share: 0.0,
            system_share: 0.0,
            idle_share: 0.0,
            fairness: 0.0,
        }
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
/// Batches whose means give the confidence interval.
const BATCHES: u64 = 20;

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
    let threads = size.threads.unwrap_or(cores);
    if threads == 0 || threads > MOST_THREADS {
        return Err(PointError::Threads(threads));
    }
    let run = |size: RunSize| {
        let simulation = Simulation::new(machine, Options { cores, seed: size.seed })?;
        lock.visit(PointRun { workload, lock, machine, cores, threads, size, simulation })
    };
    let point = run(size)?;
    if threads <= cores {
        return Ok(point);
    }
    // Threads that take turns on a core are only seen to do so over many time slices.
    let seconds =
        machine.os.time_slice_us.value / 1e6 * SLICES * f64::from(threads.div_ceil(cores));
    let sections = (point.throughput_per_s * seconds) as u64;
    if sections <= size.sections {
        return Ok(point);
    }
    run(RunSize { sections: sections.min(MOST_SECTIONS), ..size })
}

/// Time slices of each thread that a point with more threads than cores should last.
const SLICES: f64 = 10.0;
/// The most sections that are simulated to that end.
const MOST_SECTIONS: u64 = 2_000_000;

/// Sleeps last this long on average, or longer: profiles tell sleeping from computing in intervals
/// above some 20 µs only, and a thread that sleeps has to be woken again.
const SHORTEST_SLEEP_US: f64 = 50.0;

struct PointRun<'a> {
    workload: &'a Workload,
    lock: LockId,
    machine: &'a Description,
    cores: u32,
    threads: u32,
    size: RunSize,
    simulation: Simulation,
}

/// A lock of the program and the data that it protects.
struct Instance<L> {
    /// Padded, as allocators place most locks apart from each other.
    exclusive: Padded<L>,
    read_write: Padded<CentralRw<Sim>>,
    lines: Vec<Padded<SimCell<u64>>>,
}

/// What all threads of a point share.
struct Shared<L> {
    workload: Workload,
    locks: Vec<Vec<Instance<L>>>,
    /// The mean of sleeps is at least so many cycles.
    shortest_sleep: f64,
    progress: Progress,
}

impl LockVisitor<Sim> for PointRun<'_> {
    type Output = Result<Point, PointError>;

    fn visit<L: RawLock<Sim>>(mut self) -> Self::Output {
        let shared = Rc::new(Shared::<L>::new(
            self.workload,
            self.size,
            self.threads,
            self.machine.clock_ghz.value,
        ));
        for thread in 0..self.threads {
            let shared = Rc::clone(&shared);
            let random = Random::new(self.size.seed, 1 + u64::from(thread));
            self.simulation.spawn(move || Thread::new(&shared, thread as usize, random).run())?;
        }
        let outcome = self.simulation.run()?;
        let progress = &shared.progress;
        let capacity = outcome.end.0 as f64 * outcome.cores as f64;
        let times = outcome.times();
        let share = |activity| times.of(activity).0 as f64 / capacity;
        let threads_time = outcome.end.0 as f64 * f64::from(self.threads);
        let in_locks = progress.in_locks.borrow();
        let (throughput, error) = progress.throughput(outcome.clock_ghz);
        let finished = progress.finished.get().max(1) as f64;
        let counts = progress.by_thread.borrow();
        let fewest = counts.iter().copied().min().unwrap_or(0) as f64;
        Ok(Point {
            lock: self.lock.name(),
            cores: self.cores,
            threads: self.threads,
            throughput_per_s: throughput,
            throughput_error_per_s: error,
            wait_share: progress.waited.get() as f64 / threads_time,
            lock_share_by_lock: in_locks.iter().map(|&spent| spent as f64 / threads_time).collect(),
            joules_per_op: outcome.energy_joules(&self.machine.power) / finished,
            working_share: share(Activity::Working),
            stalled_share: share(Activity::Stalled),
            spinning_share: share(Activity::Spinning),
            low_power_share: share(Activity::LowPower),
            system_share: share(Activity::System),
            idle_share: (1.0 - times.total().0 as f64 / capacity).max(0.0),
            fairness: fewest * f64::from(self.threads) / finished,
        })
    }
}

impl<L: RawLock<Sim>> Shared<L> {
    fn new(workload: &Workload, size: RunSize, threads: u32, ghz: f64) -> Self {
        let lines_of = |lock: usize| {
            fn most(section: &Section, lock: usize) -> f64 {
                let own = if section.lock == lock { section.lines } else { 0.0 };
                section.inner.iter().map(|i| most(&i.section, lock)).fold(own, f64::max)
            }
            workload.sections.iter().map(|(_, s)| most(s, lock)).fold(0.0, f64::max).ceil()
        };
        let locks = workload.locks.iter().enumerate().map(|(index, lock)| {
            let instance = |_| Instance {
                exclusive: Padded(L::new()),
                read_write: Padded(CentralRw::new()),
                lines: (0..lines_of(index) as usize).map(|_| Padded(SimCell::new(0))).collect(),
            };
            let owners = if lock.per_thread { threads } else { 1 };
            (0..lock.instances * owners).map(instance).collect()
        });
        Self {
            locks: locks.collect(),
            workload: workload.clone(),
            shortest_sleep: SHORTEST_SLEEP_US * 1e3 * ghz,
            progress: Progress::new(size.sections, threads, workload.locks.len()),
        }
    }
}

/// Counts finished sections, decides when to stop, and remembers when batches were full.
struct Progress {
    warm_up: u64,
    batch: u64,
    finished: Cell<u64>,
    batch_ends: RefCell<Vec<Cycles>>,
    by_thread: RefCell<Vec<u64>>,
    /// Cycles between asking for locks and having them.
    waited: Cell<u64>,
    /// Cycles in the operations of each lock of the workload.
    in_locks: RefCell<Vec<u64>>,
}

impl Progress {
    fn new(sections: u64, threads: u32, locks: usize) -> Self {
        let batch = sections.div_ceil(BATCHES).max(1);
        Self {
            warm_up: batch * BATCHES / 4,
            batch,
            finished: Cell::new(0),
            batch_ends: RefCell::new(Vec::new()),
            by_thread: RefCell::new(vec![0; threads as usize]),
            waited: Cell::new(0),
            in_locks: RefCell::new(vec![0; locks]),
        }
    }

    fn over(&self) -> bool {
        self.finished.get() >= self.warm_up + self.batch * BATCHES
    }

    fn finish(&self, thread: usize) {
        let finished = self.finished.get() + 1;
        self.finished.set(finished);
        self.by_thread.borrow_mut()[thread] += 1;
        if finished >= self.warm_up && (finished - self.warm_up).is_multiple_of(self.batch) {
            self.batch_ends.borrow_mut().push(Sim::now());
        }
    }

    /// Sections per second, and half of its 95 % confidence interval.
    fn throughput(&self, clock_ghz: f64) -> (f64, f64) {
        let ends = self.batch_ends.borrow();
        let ends = &ends[..ends.len().min(BATCHES as usize + 1)];
        let seconds = |cycles: u64| cycles as f64 / (clock_ghz * 1e9);
        let batches: Vec<f64> =
            ends.windows(2).map(|pair| seconds(pair[1].since(pair[0]).0.max(1))).collect();
        let n = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let variance = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let throughput = self.batch as f64 / mean;
        (throughput, throughput * STUDENT_T_19 * (variance / n).sqrt() / mean)
    }
}

/// The 97.5 % quantile of Student's distribution for 20 batches.
const STUDENT_T_19: f64 = 2.093;

/// One simulated thread.
struct Thread<'a, L: RawLock<Sim>> {
    shared: &'a Shared<L>,
    number: usize,
    random: Random,
    lock_thread: L::Thread,
}

impl<'a, L: RawLock<Sim>> Thread<'a, L> {
    fn new(shared: &'a Shared<L>, number: usize, random: Random) -> Self {
        Self { shared, number, random, lock_thread: L::Thread::default() }
    }

    fn run(mut self) {
        let shared = self.shared;
        let workload = &shared.workload;
        while !shared.progress.over() {
            Sim::work(workload.think.sample(&mut self.random));
            self.sleep();
            let mut choice = self.random.uniform();
            let chosen = workload.sections.iter().find(|(share, _)| {
                choice -= share;
                choice < 0.0
            });
            if let Some((_, section)) = chosen.or(workload.sections.last()) {
                self.enter(section);
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
        let LockUse { instances: choices, per_thread, read_write } =
            shared.workload.locks[section.lock];
        let pick = (self.random.uniform() * f64::from(choices)) as usize;
        let own = if per_thread { self.number * choices as usize } else { 0 };
        let instance = &instances[own + pick];
        let asked = Sim::now();
        match (read_write, section.mode) {
            (false, _) => instance.exclusive.acquire(&mut self.lock_thread),
            (true, Mode::Exclusive) => instance.read_write.acquire(),
            (true, Mode::Shared) => instance.read_write.acquire_shared(),
        }
        let waited = Sim::now().since(asked);
        let progress = &shared.progress;
        progress.waited.set(progress.waited.get() + waited.0);
        self.work_inside(section, instance);
        let done = Sim::now();
        // SAFETY: taken above by this thread, in the same mode.
        unsafe {
            match (read_write, section.mode) {
                (false, _) => instance.exclusive.release(&mut self.lock_thread),
                (true, Mode::Exclusive) => instance.read_write.release(),
                (true, Mode::Shared) => instance.read_write.release_shared(),
            }
        }
        let released = Sim::now().since(done);
        progress.in_locks.borrow_mut()[section.lock] += waited.0 + released.0;
    }

    fn work_inside(&mut self, section: &Section, instance: &Instance<L>) {
        let lines = self.whole_number(section.lines);
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
            for _ in 0..self.whole_number(inner.times) {
                self.enter(&inner.section);
            }
        }
    }

    /// A whole number whose mean is `mean`.
    fn whole_number(&mut self, mean: f64) -> usize {
        let whole = mean.floor();
        whole as usize + usize::from(self.random.uniform() < mean - whole)
    }
}
