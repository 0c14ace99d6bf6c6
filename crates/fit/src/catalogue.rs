//! The lock phases that a fit tries.

use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_predict::{
    BarrierRounds, Duration, Point, PointError, RunSize, Workload, simulate, simulate_barrier,
};

/// A phase in which threads think, take one of some locks, and hold it.
#[derive(Debug, Clone, PartialEq)]
pub struct LockPhase {
    /// Mean computing between two acquisitions for each cycle of holding.
    pub think_per_hold: f64,
    /// Mean computing under the lock, in cycles on one core with nobody else there.
    pub hold_cycles: f64,
    /// Lines of data written under the lock, which move from holder to holder.
    pub lines: f64,
    /// Locks, used equally.
    pub locks: u32,
    /// How many threads there are.
    pub threads: Threads,
    /// How plausible it is before anything is measured, relative to the others.
    pub prior: f64,
    /// What is simulated.
    pub(crate) conduct: Conduct,
}

/// What the threads of a lock phase do over and over.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Conduct {
    /// They think, and enter a section.
    Sections(Workload),
    /// They work, and meet at a barrier that is made of the lock.
    Rounds(BarrierRounds),
}

/// Outermost sections simulated for a point: for about 3 % of chance in its throughput, less than
/// the model's own error.
const SECTIONS: u64 = 3_000;
/// Rounds between barriers simulated for a point.
const ROUNDS: u64 = 40;
/// Time slices of each thread that a point with more threads than cores lasts.
const SLICES: u32 = 2;

impl LockPhase {
    /// Simulates a point of it.
    pub(crate) fn simulate(
        &self,
        lock: LockId,
        machine: &Description,
        cores: u32,
        seed: u64,
    ) -> Result<Point, PointError> {
        let size = |sections| RunSize {
            threads: Some(self.threads.on(cores)),
            sections,
            seed,
            // The locks that people measure are seldom ones whose waiters give their cores away.
            waiters_yield: false,
            slices: SLICES,
        };
        match &self.conduct {
            Conduct::Sections(workload) => simulate(workload, lock, machine, cores, size(SECTIONS)),
            Conduct::Rounds(rounds) => simulate_barrier(rounds, lock, machine, cores, size(ROUNDS)),
        }
    }
}

/// How many threads a program runs on some cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threads {
    /// One for each core.
    AsCores,
    /// One more than there are cores, as in programs whose main thread works as well.
    OneMore,
    /// Several for each core.
    PerCore(u32),
}

impl Threads {
    /// Threads on `cores` cores.
    #[must_use]
    pub fn on(self, cores: u32) -> u32 {
        match self {
            Threads::AsCores => cores,
            Threads::OneMore => cores + 1,
            Threads::PerCore(threads) => cores * threads,
        }
    }

    /// Threads for each core of a machine with many.
    #[must_use]
    pub fn per_core(self) -> f64 {
        match self {
            Threads::AsCores | Threads::OneMore => 1.0,
            Threads::PerCore(threads) => f64::from(threads),
        }
    }
}

/// The mean cycles that locks are held. In steps of about three, from a few instructions to a long
/// system call: a factor of three changes a curve by about as much as measurements scatter.
const HOLDS: [f64; 6] = [50.0, 150.0, 500.0, 1_500.0, 5_000.0, 20_000.0];
/// Thinking for each cycle of holding. A lock is busy all the time from about that many cores.
const THINK_PER_HOLD: [f64; 10] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
/// Lines of data that move with the lock.
const LINES: [f64; 3] = [0.0, 2.0, 8.0];
/// Locks, used equally.
const LOCKS: [u32; 3] = [1, 4, 16];

/// All lock phases of the search.
pub(crate) fn search() -> Vec<LockPhase> {
    let mut phases = Vec::new();
    for hold in HOLDS {
        for ratio in THINK_PER_HOLD {
            for lines in LINES {
                for locks in LOCKS {
                    phases.push(phase(hold, ratio, lines, locks));
                }
            }
        }
    }
    phases.extend(crowded());
    phases.extend(rounds());
    phases
}

/// Lock phases with more threads than cores. Only long sections: with short ones, a point would have
/// to last for millions of them before a time slice is over.
fn crowded() -> Vec<LockPhase> {
    let mut phases = Vec::new();
    for (threads, asleep) in CROWDS {
        for hold in [5_000.0, 50_000.0] {
            for ratio in [8.0, 32.0, 128.0, 512.0] {
                let asleep = hold * (ratio + 1.0) * asleep;
                let workload = Workload { asleep, ..one_lock(hold, ratio, 2.0) };
                let phase = phase(hold, ratio, 2.0, 1);
                let conduct = Conduct::Sections(workload);
                phases.push(LockPhase { threads, prior: 2.0, conduct, ..phase });
            }
        }
    }
    phases
}

/// Phases in which threads meet at barriers, with work between two of them for all threads
/// together, how unequally it is dealt, and how long a thread watches for the others before it
/// sleeps.
fn rounds() -> Vec<LockPhase> {
    let mut phases = Vec::new();
    for threads in [Threads::AsCores, Threads::OneMore] {
        for work in [1e5, 3e5, 1e6, 3e6, 1e7] {
            for imbalance in [0.1, 0.5] {
                for spin in [0.0, 1e5] {
                    let rounds = BarrierRounds { work, imbalance, memory: None, spin };
                    let conduct = Conduct::Rounds(rounds);
                    let phase = phase(0.0, 0.0, 0.0, 1);
                    phases.push(LockPhase { threads, prior: 2.0, conduct, ..phase });
                }
            }
        }
    }
    phases
}

/// More threads than cores, and how long each sleeps for each cycle of computing.
const CROWDS: [(Threads, f64); 5] = [
    (Threads::OneMore, 0.0),
    (Threads::PerCore(2), 0.0),
    (Threads::PerCore(2), 1.0),
    (Threads::PerCore(4), 1.0),
    (Threads::PerCore(4), 3.0),
];

fn phase(hold: f64, ratio: f64, lines: f64, locks: u32) -> LockPhase {
    let mut workload = one_lock(hold, ratio, lines);
    workload.locks[0].instances = locks;
    LockPhase {
        think_per_hold: ratio,
        hold_cycles: hold,
        lines,
        locks,
        threads: Threads::AsCores,
        prior: 1.0,
        conduct: Conduct::Sections(workload),
    }
}

fn one_lock(hold: f64, ratio: f64, lines: f64) -> Workload {
    let think = Duration::Exponential(hold * ratio);
    Workload::single_lock(think, Duration::Exponential(hold), lines)
}

/// How much longer or shorter everything may take on the target than in the profile.
const STRETCHES: [f64; 9] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// The lock phases that a profiled workload allows: its locks, their shares and its ratio of hold
/// to think stay, and all of it takes longer or shorter.
pub(crate) fn profiled(workload: &Workload) -> Vec<LockPhase> {
    STRETCHES
        .iter()
        .map(|&stretch| {
            let workload = workload.stretched(stretch);
            let hold: f64 = workload.sections.iter().map(|(share, s)| share * s.hold.mean()).sum();
            LockPhase {
                think_per_hold: workload.think.mean() / hold.max(1.0),
                hold_cycles: hold,
                lines: workload.sections.iter().map(|(share, s)| share * s.lines).sum(),
                locks: workload.locks.iter().map(|lock| lock.instances).sum(),
                threads: Threads::AsCores,
                prior: 1.0,
                conduct: Conduct::Sections(workload),
            }
        })
        .collect()
}
