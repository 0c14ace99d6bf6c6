//! A point that can be simulated, and is found again if it was.

use kilocore_machine::Description;
use kilocore_points::{Job, Key};

use crate::{Point, PointError, RunSize, TriedLock, Workload, simulate};

/// One point to simulate. The jobs of a batch share the machine.
#[derive(Debug, Clone, Copy)]
pub struct PointJob<'a> {
    /// What the threads do.
    pub workload: &'a Workload,
    /// The lock under which they do it.
    pub lock: TriedLock,
    /// Number of simulated cores.
    pub cores: u32,
    /// How much is simulated.
    pub size: RunSize,
}

impl Job for PointJob<'_> {
    type Shared = Description;
    type Point = Point;
    type Error = PointError;

    const COMPUTATION: &'static str = "threads under a lock";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        // The more cores, the more waiters for each section. How many sections there are is much the same.
        f64::from(self.size.threads.unwrap_or(self.cores).max(self.cores))
    }

    fn compute(&self, machine: &Description) -> Result<Point, PointError> {
        let Self { workload, lock, cores, size } = *self;
        simulate(workload, lock, machine, cores, size)
    }

    fn shared_words(machine: &Description) -> String {
        format!("threads under a lock on {}", machine.name)
    }

    fn words(&self) -> String {
        format!("{}, {} cores", self.lock.name(), self.cores)
    }
}

#[cfg(test)]
mod tests {
    use kilocore_locks::{LockId, RwLockId};
    use kilocore_points::PointSource;

    use super::*;
    use crate::{Duration, TODAY};

    fn think() -> Duration {
        Duration::Exponential(4_000.0)
    }

    fn hold() -> Duration {
        Duration::Exponential(400.0)
    }

    #[test]
    fn a_point_that_is_kept_is_the_one_that_was_simulated() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let machine = kilocore_machine::find("core-i7-6700").unwrap();
        let mutexes = Workload::single_lock(think(), hold(), 2.0);
        let lock = RwLockId::ALL[0];
        let read_write = Workload::single_rw_lock(think(), hold(), 2.0, lock, 0.9);
        let size = RunSize { sections: 200, ..RunSize::default() };
        let of = |workload, lock, cores| PointJob { workload, lock, cores, size };
        let mut jobs: Vec<PointJob<'_>> =
            LockId::ALL.iter().map(|&lock| of(&mutexes, lock.into(), 2)).collect();
        jobs.push(of(&read_write, TriedLock::ReadWrite { lock, beside: TODAY }, 4));
        let simulated = PointSource::unkept().points(&machine, &jobs, &|| ()).unwrap();
        let kept = || PointSource::kept_in(&home).unwrap();
        assert_eq!(kept().points(&machine, &jobs, &|| ()).unwrap(), simulated);
        let listing = kept().listing();
        assert_eq!(listing.points(&machine, &jobs, &|| ()).unwrap(), simulated);
        // Whatever is another input is another point.
        let slower = {
            let mut slower = machine.clone();
            slower.clock_ghz.value /= 2.0;
            slower
        };
        let job = jobs[0];
        let others = [
            PointJob { workload: &read_write, ..job },
            PointJob { lock: LockId::ALL[1].into(), cores: 3, ..job },
            PointJob { size: RunSize { seed: 2, ..size }, ..job },
        ];
        assert!(listing.point(&machine, &job).is_ok());
        let elsewhere = |result| matches!(result, Err(PointError::Elsewhere(_)));
        assert!(elsewhere(listing.point(&slower, &job)));
        assert!(others.iter().all(|job| elsewhere(listing.point(&machine, job))));
        assert_eq!(listing.missing().len(), 4);
    }
}
