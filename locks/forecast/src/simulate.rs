//! Simulates one workload on one machine, with one lock and one number of cores.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_locks::{LockId, LockVisitor, RawLock};
use kilocore_machine::Description;
use kilocore_platform::{Cycles, Padded, Platform, SharedCell};
use kilocore_sim::{Random, Sim, SimCell, Simulation};

use crate::any_lock::{AnyLock, LockThread};
use crate::barrier::{Barrier, BarrierRounds, OwnBarrier, simulate_barrier};
use crate::memory::{Fetcher, whole_number};
use crate::pieces::Pieces;
use crate::point::Point;
use crate::progress::{End, Progress};
use crate::run_size::{PointError, RunSize, set_up};
use crate::tried_lock::TriedLock;
use crate::workload::{Barriers, LockUse, Mode, Section, Workload};

/// With fewer rounds than this, a simulation does not show what the barriers cost.
const ROUNDS: u64 = 20;
/// To get that many rounds, at most this many times the sections asked for are simulated.
const MORE_FOR_ROUNDS: f64 = 2.0;

/// Simulates a point.
///
/// # Errors
/// [`PointError`] if the machine does not have the cores, or if the threads are none or too many
/// for the host's memory.
pub fn simulate(
    workload: &Workload,
    lock: impl Into<TriedLock>,
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<Point, PointError> {
    let lock = lock.into();
    let Some(barriers) = workload.barriers else {
        return run_point(workload, lock, machine, cores, size);
    };
    let needed = barriers.sections * ROUNDS as f64;
    if needed <= size.sections as f64 * MORE_FOR_ROUNDS {
        let sections = size.sections.max(needed.ceil() as u64);
        return run_point(workload, lock, machine, cores, RunSize { sections, ..size });
    }
    // The rounds are so long that the barriers do not affect the sections in them. So the barriers
    // are simulated separately, and their cost is added.
    let between = Workload { barriers: None, ..workload.clone() };
    let point = run_point(&between, lock, machine, cores, size)?;
    let lost = lost_at_barriers(workload, &barriers, lock.mutex(), machine, cores, size)?;
    Ok(point.with_idle(lost, machine))
}

/// Returns the time that barriers take beyond the computing between them, in cycles for each
/// section.
fn lost_at_barriers(
    workload: &Workload,
    barriers: &Barriers,
    lock: LockId,
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<f64, PointError> {
    let threads = f64::from(size.threads.unwrap_or(cores).max(1));
    let busy = workload.busy() - workload.serial;
    let part = workload.think.mean() / busy.max(f64::MIN_POSITIVE);
    let of_a_thread = (barriers.sections / threads).max(1.0);
    let by_chance = (workload.think.relative_variance() / of_a_thread).sqrt() * part;
    let rounds = BarrierRounds {
        work: busy * barriers.sections,
        imbalance: barriers.imbalance.hypot(by_chance).min(1.0),
        memory: None,
        spin: 0.0,
        of_lock: barriers.lock.is_some(),
    };
    let size = RunSize { sections: ROUNDS, ..size };
    let point = simulate_barrier(&rounds, lock, machine, cores, size)?;
    let a_round = machine.clock_ghz.value * 1e9 / point.throughput_per_s;
    let computing = rounds.work / threads.min(f64::from(cores));
    Ok((a_round - computing).max(0.0) / barriers.sections)
}

fn run_point(
    workload: &Workload,
    lock: TriedLock,
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<Point, PointError> {
    let (threads, simulation) = set_up(machine, cores, size)?;
    let name = lock.name();
    lock.mutex().visit(PointRun { workload, name, machine, cores, threads, size, simulation })
}

/// The least mean of the sleeps, in microseconds. Profiles tell sleep from computing only in
/// intervals above some 20 µs, and a thread that sleeps also has to be woken.
const SHORTEST_SLEEP_US: f64 = 50.0;

struct PointRun<'a> {
    workload: &'a Workload,
    /// The name of the curve.
    name: &'static str,
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
            return End::Sections(size.sections, size.sections_if_dear);
        }
        // To see how threads take turns on a core, one has to look at many time slices.
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

/// The state that all threads of a point share.
struct Shared<L> {
    workload: Workload,
    /// How many others are entered in each of its outermost sections.
    inside: Vec<f64>,
    machine: Description,
    cores: u32,
    locks: Vec<Vec<Instance<L>>>,
    /// The least mean of the sleeps, in cycles.
    shortest_sleep: f64,
    /// The mean computing in a section, in cycles, if sections are counted by computing; see
    /// [`by_work`].
    by_work: Option<f64>,
    meeting: Meeting<L>,
    progress: Progress,
}

/// The barrier at which threads wait for each other, if the workload has one.
struct Meeting<L> {
    barriers: Option<Barriers>,
    /// A barrier that is made of a lock of the program.
    of_lock: Barrier<L>,
    own: OwnBarrier,
    /// Whether the threads have to stop after the barrier that they have just passed.
    over: Cell<bool>,
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
        shared.count_barriers();
        let point = Point::new(self.name, self.machine, self.cores, &outcome, &shared.progress);
        Ok(point.with_serial(self.workload.serial, self.machine))
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
            inside: workload.sections.iter().map(|(_, section)| section.inside()).collect(),
            shortest_sleep: SHORTEST_SLEEP_US * 1e3 * run.machine.clock_ghz.value,
            machine: run.machine.clone(),
            cores: run.cores,
            by_work: by_work(workload, run.size.sections),
            meeting: Meeting {
                barriers: workload.barriers,
                of_lock: Barrier::new(threads),
                own: OwnBarrier::new(threads),
                over: Cell::new(false),
            },
            progress: Progress::new(run.end(), threads, workload.locks.len()),
        }
    }

    /// Adds the time that threads spent at the mutex of a barrier to the time spent at locks.
    fn count_barriers(&self) {
        if let Some(lock) = self.meeting.barriers.and_then(|barriers| barriers.lock) {
            let spent = self.meeting.of_lock.in_mutex.get();
            self.progress.waited.set(self.progress.waited.get() + spent);
            if let Some(in_lock) = self.progress.in_locks.borrow_mut().get_mut(lock) {
                *in_lock += spent;
            }
        }
    }

    /// Returns the fetcher of the calling thread, if the workload fetches data from memory.
    fn fetcher(&self, random: &mut Random) -> Option<Fetcher> {
        let usage = self.workload.memory?;
        Some(Fetcher::new(usage, &self.machine, self.cores, random))
    }
}

/// If the random durations alone would cause a larger error of the throughput than this share of
/// it, sections are counted by computing.
const DRAWN_ERROR: f64 = 0.02;

/// Returns the mean computing in a section if sections have to be counted by it, and `None`
/// otherwise.
///
/// If a few durations hold most of the work, a run of `sections` sections draws too few of them to
/// get their mean right. A long duration then counts piece by piece, as it is computed, instead of
/// as one section.
fn by_work(workload: &Workload, sections: u64) -> Option<f64> {
    let busy = workload.busy() - workload.serial;
    let part = workload.think.mean() / busy.max(f64::MIN_POSITIVE);
    let variance = workload.think.relative_variance() * part * part;
    (variance / sections.max(1) as f64 > DRAWN_ERROR * DRAWN_ERROR).then_some(busy)
}

struct Thread<'a, L: RawLock<Sim>> {
    shared: &'a Shared<L>,
    number: usize,
    random: Random,
    lock_thread: LockThread<L>,
    fetcher: Option<Fetcher>,
    /// If the outermost section that it is in counts piece by piece.
    pieces: Option<Pieces>,
}

impl<'a, L: RawLock<Sim>> Thread<'a, L> {
    fn new(shared: &'a Shared<L>, number: usize, mut random: Random) -> Self {
        let fetcher = shared.fetcher(&mut random);
        Self { shared, number, random, lock_thread: LockThread::new(), fetcher, pieces: None }
    }

    fn run(mut self) {
        if let Some(barriers) = self.shared.meeting.barriers {
            return self.run_rounds(&barriers);
        }
        while !self.shared.progress.over() {
            self.once(1.0);
        }
    }

    /// Works in rounds, each of which ends in a barrier. The work of all threads together is the
    /// same in each round.
    fn run_rounds(&mut self, barriers: &Barriers) {
        let Shared { meeting, progress, .. } = self.shared;
        let equal = barriers.sections / progress.by_thread.borrow().len() as f64;
        while !meeting.over.get() {
            let varies = barriers.imbalance * (self.random.exponential(1.0) - 1.0);
            let mut left = equal * (1.0 + varies);
            while left > 0.0 {
                self.once(left.min(1.0));
                left -= 1.0;
            }
            // All threads have to agree on whether this was the last round.
            let complete = || meeting.over.set(progress.over());
            if barriers.lock.is_some() {
                let thread = self.lock_thread.tried();
                meeting.of_lock.wait(Cycles(0), thread, complete);
            } else {
                meeting.own.wait(complete);
            }
        }
    }

    /// Thinks and enters an outermost section. If `part` is less than 1, the thread thinks for this
    /// part of the time, and enters a section with this probability.
    fn once(&mut self, part: f64) {
        let workload = &self.shared.workload;
        self.think(part);
        if let Some(fetcher) = &mut self.fetcher {
            fetcher.fetch(part, &mut self.random);
        }
        self.sleep(workload.asleep * part);
        let think = workload.think.mean();
        let rest = part * self.shared.by_work.map_or(1.0, |busy| 1.0 - think / busy);
        let mut counted = 0.0;
        let enters = part >= 1.0 || self.random.uniform() < part;
        if enters {
            let mut choice = self.random.uniform();
            let chosen = workload.sections.iter().position(|(share, _)| {
                choice -= share;
                choice < 0.0
            });
            let chosen = chosen.or(workload.sections.len().checked_sub(1));
            if let Some(chosen) = chosen {
                let (_, section) = &workload.sections[chosen];
                self.pieces = Pieces::of(self.shared.inside[chosen], rest);
                self.enter(section);
                counted = self.pieces.take().map_or(0.0, |pieces| pieces.counted_of(rest));
            }
        }
        if workload.sections.is_empty() || !enters {
            // A thread that has entered no lock may not have let the other threads catch up.
            Sim::catch_up();
        }
        self.shared.progress.finish(self.number, f64::max(rest - counted, 0.0));
    }

    /// Computes between two sections. If sections are counted by computing, it is counted piece by
    /// piece.
    fn think(&mut self, part: f64) {
        let Shared { workload, progress, by_work, .. } = self.shared;
        let drawn = workload.think.sample(&mut self.random).0 as f64 * part;
        let Some(busy) = *by_work else {
            return Sim::work(Cycles(drawn.round() as u64));
        };
        let pieces = (drawn / busy).ceil().max(1.0);
        let piece = drawn / pieces;
        for _ in 0..pieces as u64 {
            Sim::work(Cycles(piece.round() as u64));
            Sim::catch_up();
            progress.finish(self.number, piece / busy);
            if progress.over() {
                return;
            }
        }
    }

    /// Sleeps for `mean` cycles on average. If that is too short for a thread to sleep each time,
    /// it sleeps longer but not each time.
    fn sleep(&mut self, mean: f64) {
        let shortest = self.shared.shortest_sleep;
        if mean <= 0.0 || self.random.uniform() >= mean / mean.max(shortest) {
            return;
        }
        Sim::sleep(Cycles(self.random.exponential(mean.max(shortest)).round() as u64));
    }

    fn enter(&mut self, section: &Section) {
        let shared = self.shared;
        let instances = &shared.locks[section.lock];
        let used: &LockUse = &shared.workload.locks[section.lock];
        let of_which = if used.hot.is_some() { self.random.uniform() } else { 0.0 };
        let pick = used.pick(of_which, self.random.uniform());
        let own = if used.per_thread { self.number * used.instances as usize } else { 0 };
        let instance = &instances[own + pick];
        let asked = Sim::now();
        let entered = match section.polled {
            Some(between) => {
                let between = Cycles(between.round() as u64);
                instance.lock.poll(between, section.mode, &mut self.lock_thread)
            }
            None => instance.lock.acquire(section.mode, &mut self.lock_thread),
        };
        let waited = Sim::now().since(asked);
        let progress = &shared.progress;
        progress.waited.set(progress.waited.get() + waited.0);
        self.work_inside(section, instance);
        let done = Sim::now();
        // SAFETY: this thread acquired it above, in the same mode.
        unsafe { instance.lock.release(section.mode, &mut self.lock_thread, entered) };
        let released = Sim::now().since(done);
        progress.in_locks.borrow_mut()[section.lock] += waited.0 + released.0;
    }

    fn work_inside(&mut self, section: &Section, instance: &Instance<L>) {
        let lines = whole_number(section.lines, &mut self.random);
        for line in instance.lines.iter().take(lines) {
            match section.mode {
                // SAFETY: the holder of an exclusive lock is the only one that uses its data.
                Mode::Exclusive => line.with_mut(|data| unsafe { data.write(data.read() + 1) }),
                // SAFETY: while the lock is held in shared mode, all others that use the data only
                // read it.
                Mode::Shared => line.with(|data| unsafe { _ = data.read_volatile() }),
            };
        }
        Sim::work(section.hold.sample(&mut self.random));
        self.sleep(section.asleep);
        for inner in &section.inner {
            for _ in 0..whole_number(inner.times, &mut self.random) {
                self.enter(&inner.section);
                if self
                    .pieces
                    .as_mut()
                    .is_some_and(|pieces| pieces.is_over(self.number, &self.shared.progress))
                {
                    return;
                }
            }
        }
    }
}
