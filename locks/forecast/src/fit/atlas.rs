//! What lock phases and backgrounds do on a machine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Extent, PointError, PointJob, Workload};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_points::PointSource;

use crate::fit::background::{self, Background};
use crate::fit::catalogue::{self, LockPhase};

/// The index of a lock phase in its atlas.
pub(crate) type PhaseIndex = usize;

/// A point of a lock phase: the phase, the lock and the cores.
type Key = (PhaseIndex, LockId, u32);

/// The simulated result of a lock phase under a lock on some cores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simulated {
    /// Outermost sections per second of simulated time.
    pub(crate) throughput_per_s: f64,
    /// Share of the threads' time that passes between asking for a lock and having it.
    pub(crate) wait_share: f64,
}

/// Simulated points of many lock phases on one machine. Each point is simulated once, when it is
/// first asked for.
///
/// Fits of several programs on the same machine can share an atlas, because its answers do not
/// depend on what was asked before.
#[derive(Debug)]
pub struct Atlas<'m> {
    machine: &'m Description,
    seed: u64,
    extent: Extent,
    source: &'m PointSource,
    phases: Vec<LockPhase>,
    points: Mutex<BTreeMap<Key, Simulated>>,
    /// Throughputs of backgrounds by cores.
    backgrounds: Mutex<BTreeMap<(Background, u32), f64>>,
}

impl<'m> Atlas<'m> {
    /// An atlas that tries all lock phases that a program may have. What it says does not depend on where points
    /// come from.
    #[must_use]
    pub fn new(source: &'m PointSource, machine: &'m Description, seed: u64) -> Self {
        Self::with(source, machine, seed, catalogue::search())
    }

    /// An atlas for a program whose locks are known from a profile. Their number, their shares and
    /// the ratio of hold to think stay as profiled. The measurements say how long everything takes.
    ///
    /// Durations of `workload` are cycles of the machine.
    #[must_use]
    pub fn for_workload(
        source: &'m PointSource,
        machine: &'m Description,
        seed: u64,
        workload: &Workload,
    ) -> Self {
        Self::with(source, machine, seed, catalogue::profiled(workload))
    }

    fn with(
        source: &'m PointSource,
        machine: &'m Description,
        seed: u64,
        phases: Vec<LockPhase>,
    ) -> Self {
        Self {
            source,
            machine,
            seed,
            extent: Extent::Every,
            phases,
            points: Mutex::default(),
            backgrounds: Mutex::default(),
        }
    }

    /// The same with simulations that end early if they are dear, for [`Extent::Needed`].
    #[must_use]
    pub fn for_extent(self, extent: Extent) -> Self {
        Self { extent, ..self }
    }

    /// How much is simulated.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    /// The machine on which the atlas was simulated.
    #[must_use]
    pub fn machine(&self) -> &'m Description {
        self.machine
    }

    /// The seed of the simulations.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The lock phases that the atlas tries.
    pub(crate) fn phases(&self) -> &[LockPhase] {
        &self.phases
    }

    /// Returns the points of `phases` for each of `wanted`, phase by phase. Missing points are
    /// simulated first.
    ///
    /// `progress` is told how many simulations are done, and of how many.
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

    /// The time that each background takes on each number of cores, relative to one core.
    pub(crate) fn backgrounds(
        &self,
        cores: &[u32],
    ) -> Result<Vec<(Background, Vec<f64>)>, PointError> {
        let mut known = self.backgrounds.lock().expect("nothing panics while it holds the times");
        self.simulate_backgrounds(&mut known, cores)?;
        let of = |background: Background, cores: u32| match known.get(&(background, cores)) {
            Some(&throughput) => throughput,
            None => background.known(cores),
        };
        let times = |&background: &Background| {
            let alone = of(background, 1);
            (background, cores.iter().map(|&cores| alone / of(background, cores)).collect())
        };
        Ok(Background::ALL.iter().map(times).collect())
    }

    /// Adds what is not known yet of these numbers of cores, and of one.
    fn simulate_backgrounds(
        &self,
        known: &mut BTreeMap<(Background, u32), f64>,
        cores: &[u32],
    ) -> Result<(), PointError> {
        let cores: BTreeSet<u32> = cores.iter().copied().chain([1]).collect();
        let workloads = Background::ALL.iter().filter_map(|&b| Some((b, b.workload()?)));
        let workloads: Vec<(Background, Workload)> = workloads.collect();
        let missing: Vec<((Background, u32), &Workload)> = workloads
            .iter()
            .flat_map(|(b, workload)| cores.iter().map(move |&cores| ((*b, cores), workload)))
            .filter(|(key, _)| !known.contains_key(key))
            .collect();
        let job = |&((_, cores), workload): &((Background, u32), _)| {
            background::job(workload, cores, self.seed)
        };
        let jobs: Vec<PointJob<'_>> = missing.iter().map(job).collect();
        let points = self.source.points(self.machine, &jobs, &|| ())?;
        let throughputs = points.iter().map(|point| point.throughput_per_s);
        known.extend(missing.iter().map(|&(key, _)| key).zip(throughputs));
        Ok(())
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
            missing.sort_unstable();
            missing.dedup();
            missing
        };
        let count = missing.len() as u64;
        let done = AtomicU64::new(0);
        let advance = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, count);
        let job = |&(phase, lock, cores): &Key| {
            self.phases[phase].job(lock, (self.machine, cores), (self.seed, self.extent))
        };
        let jobs: Vec<PointJob<'_>> = missing.iter().map(job).collect();
        let results = self.source.points(self.machine, &jobs, &advance)?;
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
