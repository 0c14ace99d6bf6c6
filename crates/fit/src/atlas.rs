//! What lock phases and backgrounds do on a machine.

use std::collections::BTreeMap;
use std::sync::Mutex;

use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_predict::{Job, PointError, RunSize, Workload, sweep};

use crate::background::Background;
use crate::catalogue::{self, LockPhase};

/// The index of a lock phase in its atlas.
pub(crate) type PhaseIndex = usize;

/// A point of a lock phase: the phase, the lock and the cores.
type Key = (PhaseIndex, LockId, u32);

/// What was simulated of a lock phase under a lock on some cores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simulated {
    /// Outermost sections per second of simulated time.
    pub(crate) throughput_per_s: f64,
    /// Share of the threads' time between asking for a lock and having it.
    pub(crate) wait_share: f64,
}

/// Outermost sections simulated for a point: for about 3 % of chance in its throughput, less than
/// the model's own error.
const SECTIONS: u64 = 3_000;

/// Time slices of each thread that a point with more threads than cores lasts.
const SLICES: u32 = 2;

/// Simulated points of many lock phases on one machine, each simulated once, when first asked for.
///
/// Fits of several programs on the same machine share it. Its answers do not depend on what was
/// asked before.
#[derive(Debug)]
pub struct Atlas<'m> {
    machine: &'m Description,
    seed: u64,
    phases: Vec<LockPhase>,
    points: Mutex<BTreeMap<Key, Simulated>>,
}

impl<'m> Atlas<'m> {
    /// One that tries all lock phases that a program may have.
    #[must_use]
    pub fn new(machine: &'m Description, seed: u64) -> Self {
        Self { machine, seed, phases: catalogue::search(), points: Mutex::default() }
    }

    /// One for a program whose locks are known from a profile: their number, their shares and the
    /// ratio of hold to think stay; how long everything takes is for the measurements to say.
    ///
    /// Durations of `workload` are cycles of the machine.
    #[must_use]
    pub fn for_workload(machine: &'m Description, seed: u64, workload: &Workload) -> Self {
        Self { machine, seed, phases: catalogue::profiled(workload), points: Mutex::default() }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &'m Description {
        self.machine
    }

    /// The lock phases that it tries.
    pub(crate) fn phases(&self) -> &[LockPhase] {
        &self.phases
    }

    /// The points of `phases` for each of `wanted`, phase by phase, those that are missing being
    /// simulated.
    ///
    /// `progress` is told how many simulations are done of how many.
    pub(crate) fn points(
        &self,
        phases: &[PhaseIndex],
        wanted: &[(LockId, u32)],
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Vec<Vec<Simulated>>, PointError> {
        self.simulate_missing(phases, wanted, progress)?;
        let points = self.locked();
        let row = |&phase: &PhaseIndex| {
            wanted.iter().map(|&(lock, cores)| points[&(phase, lock, cores)]).collect()
        };
        Ok(phases.iter().map(row).collect())
    }

    /// The time that `background` takes on each number of cores, where one core takes 1.
    pub(crate) fn background(&self, background: Background, cores: &[u32]) -> Vec<f64> {
        match background {
            Background::Serial => vec![1.0; cores.len()],
        }
    }

    fn simulate_missing(
        &self,
        phases: &[PhaseIndex],
        wanted: &[(LockId, u32)],
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<(), PointError> {
        let missing: Vec<Key> = {
            let points = self.locked();
            let all = phases
                .iter()
                .flat_map(|&phase| wanted.iter().map(move |&(lock, cores)| (phase, lock, cores)));
            let mut missing: Vec<Key> = all.filter(|key| !points.contains_key(key)).collect();
            // The longest last, as the sweep takes jobs from the end.
            missing.sort_unstable_by_key(|&(phase, lock, cores)| (cores, phase, lock));
            missing.dedup();
            missing
        };
        let job = |&(phase, lock, cores): &Key| {
            let phase = &self.phases[phase];
            let threads = Some(phase.threads.on(cores));
            let size = RunSize {
                threads,
                sections: SECTIONS,
                seed: self.seed,
                waiters_yield: phase.waiters_yield,
                slices: SLICES,
            };
            Job { workload: &phase.workload, lock, cores, size }
        };
        let jobs: Vec<Job<'_>> = missing.iter().map(job).collect();
        let done = std::sync::atomic::AtomicU64::new(0);
        let count = || {
            let before = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            progress(before + 1, jobs.len() as u64);
        };
        let results = sweep(&jobs, self.machine, &count)?;
        let mut points = self.locked();
        for (key, point) in missing.iter().zip(results) {
            let simulated = Simulated {
                throughput_per_s: point.throughput_per_s,
                wait_share: point.wait_share,
            };
            points.insert(*key, simulated);
        }
        Ok(())
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Simulated>> {
        self.points.lock().expect("nothing panics while it holds the points")
    }
}
