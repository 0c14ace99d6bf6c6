//! Rounds of work that end in a barrier, as programs build one from a lock.
//!
//! # The barrier
//! It consists of a mutex, a count and a condition variable. Each thread acquires the mutex and
//! counts itself. All threads but the last wait; the last one opens the way out. The last thread to
//! leave opens the way in again. Every thread therefore passes the mutex two times in each round,
//! and all threads do so at the same moment.
//!
//! A thread may watch for the way to open before it waits on the condition variable, as in the
//! barrier of the PARSEC programs. It then returns to the mutex by trying to acquire it until it
//! succeeds.
//!
//! The condition variable is one futex word. A waiter releases the mutex, sleeps, and acquires the
//! mutex again. A broadcast wakes all sleepers. Versions of glibc before 2.25 moved the sleepers to
//! the queue of the mutex instead, if the mutex was glibc's own. This is not simulated.
//!
//! # The work
//! All rounds have the same work. The threads divide it, however many they are. Their parts differ,
//! so that the other threads wait for the slowest.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_locks::{LockId, LockVisitor, RawLock};
use kilocore_machine::Description;
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform};
use kilocore_sim::{Random, Sim, SimU32, Simulation};

use crate::memory::Fetcher;
use crate::progress::{End, Progress};
use crate::run_size::set_up;
use crate::{MemoryUse, Point, PointError, RunSize};

/// A program that works in rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct BarrierRounds {
    /// The computing of all threads together in a round, in cycles.
    pub work: f64,
    /// How unequal the threads' parts are: the standard deviation of the parts as a share of their
    /// mean, 0 to 1. What a part exceeds the smallest possible part by is exponentially
    /// distributed.
    pub imbalance: f64,
    /// What all threads together fetch from memory in a round.
    pub memory: Option<MemoryUse>,
    /// How long a thread watches for the others before it sleeps, in cycles.
    pub spin: f64,
    /// Whether the barrier is made of the lock. If not, it is the C library's own, whose waiters
    /// sleep at once.
    pub of_lock: bool,
}

/// Simulates a point: [`RunSize::sections`] rounds, after a quarter as many that are not counted.
/// In the point, throughput and energy are per round. 20 to 40 rounds are enough, because rounds
/// are much alike. With many threads that contend for the mutex, a round takes about a millisecond
/// of the host's time.
///
/// # Errors
/// The same as for [`simulate`](crate::simulate).
pub fn simulate_barrier(
    rounds: &BarrierRounds,
    lock: LockId,
    machine: &Description,
    cores: u32,
    size: RunSize,
) -> Result<Point, PointError> {
    let (threads, simulation) = set_up(machine, cores, size)?;
    lock.visit(BarrierRun { rounds, lock, machine, cores, threads, size, simulation })
}

struct BarrierRun<'a> {
    rounds: &'a BarrierRounds,
    lock: LockId,
    machine: &'a Description,
    cores: u32,
    threads: u32,
    size: RunSize,
    simulation: Simulation,
}

/// The state that all threads share.
struct Shared<L> {
    rounds: BarrierRounds,
    machine: Description,
    cores: u32,
    threads: u32,
    sections: u64,
    barrier: Barrier<L>,
    own: OwnBarrier,
    progress: Progress,
}

impl LockVisitor<Sim> for BarrierRun<'_> {
    type Output = Result<Point, PointError>;

    fn visit<L: RawLock<Sim>>(mut self) -> Self::Output {
        let shared = Rc::new(Shared::<L> {
            rounds: self.rounds.clone(),
            machine: self.machine.clone(),
            cores: self.cores,
            threads: self.threads,
            sections: self.size.sections,
            barrier: Barrier::new(self.threads),
            own: OwnBarrier::new(self.threads),
            progress: Progress::new(End::Sections(self.size.sections, None), self.threads, 1),
        });
        for thread in 0..self.threads {
            let shared = Rc::clone(&shared);
            let random = Random::new(self.size.seed, 1 + u64::from(thread));
            self.simulation.spawn(move || shared.run_thread(thread as usize, random))?;
        }
        let outcome = self.simulation.run()?;
        let point =
            Point::new(self.lock.name(), self.machine, self.cores, &outcome, &shared.progress);
        // All threads finish the same rounds, but only the last one to arrive counts them.
        Ok(Point { fairness: 1.0, ..point })
    }
}

impl<L: RawLock<Sim>> Shared<L> {
    fn run_thread(&self, number: usize, mut random: Random) {
        let Self { rounds, progress, .. } = self;
        let mut fetcher =
            rounds.memory.map(|usage| Fetcher::new(usage, &self.machine, self.cores, &mut random));
        let mut lock_thread = L::Thread::default();
        let equal = 1.0 / f64::from(self.threads);
        let spin = Cycles(rounds.spin.round() as u64);
        for _ in 0..Progress::planned(self.sections) {
            let varies = rounds.imbalance * (random.exponential(1.0) - 1.0);
            let part = equal * (1.0 + varies);
            Sim::work(Cycles((rounds.work * part).round() as u64));
            if let Some(fetcher) = &mut fetcher {
                fetcher.fetch(part, &mut random);
            }
            let asked = Sim::now();
            let complete = || progress.finish(number, 1.0);
            if rounds.of_lock {
                self.barrier.wait(spin, &mut lock_thread, complete);
            } else {
                self.own.wait(complete);
            }
            let waited = Sim::now().since(asked).0;
            progress.waited.set(progress.waited.get() + waited);
            progress.in_locks.borrow_mut()[0] += waited;
        }
    }
}

/// The barrier. Its count and its phase share a cache line, as variables of one structure do.
#[derive(Debug)]
pub(crate) struct Barrier<L> {
    mutex: Padded<L>,
    state: Padded<State>,
    condition: Padded<Condition>,
    members: u32,
    /// Cycles between asking for the mutex and holding it, summed over all threads.
    pub(crate) in_mutex: Cell<u64>,
}

#[derive(Debug)]
struct State {
    inside: SimU32,
    phase: SimU32,
}

/// The phase in which threads arrive.
const ARRIVING: u32 = 0;
/// The phase in which threads leave.
const LEAVING: u32 = 1;

impl<L: RawLock<Sim>> Barrier<L> {
    pub(crate) fn new(members: u32) -> Self {
        Self {
            in_mutex: Cell::new(0),
            mutex: Padded(L::new()),
            state: Padded(State { inside: SimU32::new(0), phase: SimU32::new(ARRIVING) }),
            condition: Padded(Condition(SimU32::new(0))),
            members,
        }
    }

    /// Waits until all members have arrived. The last one to arrive calls `complete` first.
    pub(crate) fn wait(&self, spin: Cycles, thread: &mut L::Thread, complete: impl FnOnce()) {
        let State { inside, phase } = &*self.state;
        self.acquire(thread);
        self.wait_for(ARRIVING, spin, thread);
        // A load and a store are enough, because the mutex protects the count.
        let arrived = inside.load(Ordering::Relaxed) + 1;
        inside.store(arrived, Ordering::Relaxed);
        if arrived == self.members {
            complete();
            phase.store(LEAVING, Ordering::Relaxed);
            self.condition.broadcast();
        } else {
            self.wait_for(LEAVING, spin, thread);
        }
        let left = inside.load(Ordering::Relaxed) - 1;
        inside.store(left, Ordering::Relaxed);
        if left == 0 {
            phase.store(ARRIVING, Ordering::Relaxed);
            self.condition.broadcast();
        }
        // SAFETY: acquired at the beginning, and held again after each wait.
        unsafe { self.mutex.release(thread) };
    }

    /// Waits for a phase. The mutex is held before and after.
    fn wait_for(&self, wanted: u32, spin: Cycles, thread: &mut L::Thread) {
        let phase = &self.state.phase;
        if phase.load(Ordering::Relaxed) == wanted {
            return;
        }
        if spin > Cycles(0) {
            // SAFETY: the caller holds the mutex.
            unsafe { self.mutex.release(thread) };
            Sim::watch_for(phase, spin, |seen| seen == wanted);
            while !self.mutex.try_acquire(thread) {
                Sim::pause(1);
            }
        }
        while phase.load(Ordering::Relaxed) != wanted {
            let word = &self.condition.0.0;
            let seen = word.load(Ordering::Relaxed);
            // SAFETY: this thread holds the mutex: it did so at the call, and it acquires it after
            // each sleep.
            unsafe { self.mutex.release(thread) };
            Sim::park(word, seen, None);
            self.acquire(thread);
        }
    }

    fn acquire(&self, thread: &mut L::Thread) {
        let asked = Sim::now();
        self.mutex.acquire(thread);
        self.in_mutex.set(self.in_mutex.get() + Sim::now().since(asked).0);
    }
}

/// A condition variable. Its word counts the broadcasts.
#[derive(Debug)]
struct Condition(SimU32);

impl Condition {
    fn broadcast(&self) {
        self.0.fetch_add(1, Ordering::Release);
        Sim::unpark(std::ptr::from_ref(&self.0), u32::MAX);
    }
}

/// The C library's own barrier. Threads count themselves in one word. The last one to arrive wakes
/// the others, which sleep on another word.
#[derive(Debug)]
pub(crate) struct OwnBarrier {
    inside: Padded<SimU32>,
    round: Padded<SimU32>,
    members: u32,
}

impl OwnBarrier {
    pub(crate) fn new(members: u32) -> Self {
        Self { inside: Padded(SimU32::new(0)), round: Padded(SimU32::new(0)), members }
    }

    /// Waits until all members have arrived. The last one to arrive calls `complete` first.
    pub(crate) fn wait(&self, complete: impl FnOnce()) {
        let round = self.round.load(Ordering::Relaxed);
        if self.inside.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            complete();
            self.inside.store(0, Ordering::Relaxed);
            self.round.fetch_add(1, Ordering::Release);
            Sim::unpark(std::ptr::from_ref(&*self.round), u32::MAX);
            return;
        }
        while self.round.load(Ordering::Acquire) == round {
            Sim::park(&self.round, round, None);
        }
    }
}
