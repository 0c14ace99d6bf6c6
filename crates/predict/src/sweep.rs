//! Many points at once, on all cores of the host.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use kilocore_locks::LockId;
use kilocore_machine::Description;

use crate::{Point, PointError, RunSize, Workload, simulate};

/// One point to simulate.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// What the threads do.
    pub workload: &'a Workload,
    /// The lock.
    pub lock: LockId,
    /// Cores.
    pub cores: u32,
    /// How much is simulated.
    pub size: RunSize,
}

/// Simulates all jobs on `machine` and gives their points in the order of the jobs.
///
/// The host's cores take jobs in turn, the last first, as those are the longest in a sweep by
/// ascending cores; the result does not depend on who takes which. `progress` is called after
/// each, from any thread.
///
/// # Errors
/// The error of the first job, in their order, that fails.
///
/// # Panics
/// If a simulated lock panics.
pub fn sweep(
    jobs: &[Job<'_>],
    machine: &Description,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, PointError> {
    let point = |index: usize| {
        let Job { workload, lock, cores, size } = jobs[index];
        simulate(workload, lock, machine, cores, size)
    };
    in_parallel(jobs.len(), &point, progress).into_iter().collect()
}

/// Runs `run` for each index below `count`, on all cores of the host, the last index first, and
/// gives the results in order. `progress` is called after each, from any thread.
///
/// # Panics
/// If `run` panics.
pub fn in_parallel<T: Send>(
    count: usize,
    run: &(dyn Fn(usize) -> T + Sync),
    progress: &(dyn Fn() + Sync),
) -> Vec<T> {
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(count);
    let left = AtomicUsize::new(count);
    let results: Vec<Mutex<Option<T>>> = (0..count).map(|_| Mutex::new(None)).collect();
    let work = || {
        let take = |left: usize| left.checked_sub(1);
        while let Ok(before) = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            let result = run(before - 1);
            *results[before - 1].lock().expect("no worker panics while it stores a result") =
                Some(result);
            progress();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    results
        .into_iter()
        .map(|slot| {
            let stored = slot.into_inner().expect("no worker panics while it stores a result");
            stored.expect("every job was taken")
        })
        .collect()
}
