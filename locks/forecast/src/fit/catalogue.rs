//! The lock phases that a fit tries.

use crate::{Duration, Extent, PointJob, RunSize, Workload};
use kilocore_locks::LockId;
use kilocore_machine::Description;

/// A phase in which threads think, take one of some locks, and hold it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LockPhase {
    /// Mean computing between two acquisitions for each cycle of holding.
    pub(crate) think_per_hold: f64,
    /// Mean computing under the lock, in cycles, on one core with no other threads.
    pub(crate) hold_cycles: f64,
    /// Lines of data written under the lock, which move from holder to holder.
    pub(crate) lines: f64,
    /// How many locks there are. They are used equally.
    pub(crate) locks: u32,
    /// How many threads there are.
    pub(crate) threads: Threads,
    /// How plausible the phase is before anything is measured, relative to the other phases.
    pub(crate) prior: f64,
    /// The workload that is simulated.
    pub(crate) workload: Workload,
}

/// Outermost sections simulated for a point. With so many, chance changes the point's throughput by
/// about 3 %, which is less than the model's own error.
const SECTIONS: u64 = 3_000;
/// The sections of a dear simulation, those that are not counted included, if only what is needed is
/// simulated. With so many, chance changes the point's throughput by less than a tenth.
const SECTIONS_IF_DEAR: u64 = 500;
/// Time slices of each thread that a point with more threads than cores lasts.
const SLICES: u32 = 2;

impl LockPhase {
    /// A point of the phase to simulate, with the program on `cores` cores.
    pub(crate) fn job(
        &self,
        lock: LockId,
        (machine, cores): (&Description, u32),
        (seed, extent): (u64, Extent),
    ) -> PointJob<'_> {
        let confined = cores;
        let cores = self.threads.cores(confined, machine.hardware_threads());
        let size = RunSize {
            threads: Some(self.threads.on(confined)),
            sections: SECTIONS,
            seed,
            // People seldom measure locks whose waiters give their cores away.
            waiters_yield: false,
            slices: SLICES,
            sections_if_dear: (extent == Extent::Needed).then_some(SECTIONS_IF_DEAR),
        };
        PointJob { workload: &self.workload, lock: lock.into(), cores, size }
    }
}

/// How many threads a program runs when it is given some cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Threads {
    /// One for each core.
    AsCores,
    /// Some threads for each core and some more, confined to those cores.
    Confined(Crowd),
    /// As many threads, on all cores of the machine that they can use.
    Spread(Crowd),
}

/// More threads than cores: `per_core` for each core, and `more` besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowd {
    /// Threads for each core.
    pub(crate) per_core: u32,
    /// Threads beyond these, such as a main thread that works as well.
    pub(crate) more: u32,
}

impl Threads {
    /// Threads when the program is given `cores` cores.
    #[must_use]
    pub(crate) fn on(self, cores: u32) -> u32 {
        match self {
            Threads::AsCores => cores,
            Threads::Confined(crowd) | Threads::Spread(crowd) => {
                cores * crowd.per_core + crowd.more
            }
        }
    }

    /// The cores that these threads use, of `all` the cores of the machine.
    #[must_use]
    pub(crate) fn cores(self, cores: u32, all: u32) -> u32 {
        match self {
            Threads::AsCores | Threads::Confined(_) => cores,
            Threads::Spread(_) => self.on(cores).min(all),
        }
    }

    /// Threads for each core, on a machine with many cores.
    #[must_use]
    pub(crate) fn per_core(self) -> f64 {
        match self {
            Threads::AsCores => 1.0,
            Threads::Confined(crowd) | Threads::Spread(crowd) => f64::from(crowd.per_core),
        }
    }
}

/// The mean cycles that locks are held, from a few instructions to a long system call. The steps
/// are factors of four, because such a factor changes a curve by about as much as measurements
/// scatter.
const HOLDS: [f64; 5] = [100.0, 400.0, 1_600.0, 6_400.0, 25_600.0];
/// Cycles of thinking for each cycle of holding. A lock is busy all the time from about that many
/// cores on.
const THINK_PER_HOLD: [f64; 9] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
/// Lines of data that move with the lock.
const LINES: [f64; 3] = [0.0, 2.0, 8.0];
/// How many locks there are. They are used equally.
const LOCKS: [u32; 2] = [1, 8];

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
    phases
}

/// Lock phases with more threads than cores. They have long sections only. With short sections, a
/// point would have to last for millions of sections before a time slice is over.
fn crowded() -> Vec<LockPhase> {
    let mut phases = Vec::new();
    for (threads, asleep) in CROWDS {
        for ratio in [8.0, 64.0, 512.0] {
            let asleep = CROWDED_HOLD * (ratio + 1.0) * asleep;
            let workload = Workload { asleep, ..one_lock(CROWDED_HOLD, ratio, 2.0) };
            let phase = phase(CROWDED_HOLD, ratio, 2.0, 1);
            phases.push(LockPhase { threads, prior: 4.0, workload, ..phase });
        }
    }
    phases
}

/// How long locks are held in these phases, in cycles.
const CROWDED_HOLD: f64 = 20_000.0;

/// More threads than cores, and how long each sleeps for each cycle of computing. People measure on
/// a part of a machine in two ways. Some confine the program to that part. Others start as many
/// threads as the part has cores, and let them run on all cores.
const CROWDS: [(Threads, f64); 7] = [
    (Threads::Confined(Crowd { per_core: 1, more: 1 }), 0.0),
    (Threads::Spread(Crowd { per_core: 1, more: 1 }), 0.0),
    (Threads::Confined(Crowd { per_core: 2, more: 0 }), 0.0),
    (Threads::Confined(Crowd { per_core: 2, more: 0 }), 1.0),
    (Threads::Spread(Crowd { per_core: 2, more: 0 }), 1.0),
    (Threads::Confined(Crowd { per_core: 4, more: 0 }), 3.0),
    (Threads::Spread(Crowd { per_core: 4, more: 0 }), 3.0),
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
        workload,
    }
}

fn one_lock(hold: f64, ratio: f64, lines: f64) -> Workload {
    let think = Duration::Exponential(hold * ratio);
    Workload::single_lock(think, Duration::Exponential(hold), lines)
}

/// How much longer or shorter everything may take on the target than in the profile.
const STRETCHES: [f64; 9] = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// The lock phases that a profiled workload allows. Its locks, their shares and its ratio of hold
/// to think stay, and everything takes longer or shorter by the same factor. Serial parts and
/// barriers are phases of their own here, which the mixture weighs.
pub(crate) fn profiled(workload: &Workload) -> Vec<LockPhase> {
    STRETCHES
        .iter()
        .map(|&stretch| {
            let workload = Workload { serial: 0.0, barriers: None, ..workload.stretched(stretch) };
            let hold: f64 = workload.sections.iter().map(|(share, s)| share * s.hold.mean()).sum();
            LockPhase {
                think_per_hold: workload.think.mean() / hold.max(1.0),
                hold_cycles: hold,
                lines: workload.sections.iter().map(|(share, s)| share * s.lines).sum(),
                locks: workload.locks.iter().map(|lock| lock.instances).sum(),
                threads: Threads::AsCores,
                prior: 1.0,
                workload,
            }
        })
        .collect()
}
