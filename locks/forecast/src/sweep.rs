//! Simulates many points at once, on all cores of the host.

use kilocore_machine::Description;
use kilocore_sim::in_parallel;

use crate::kept::{Kept, simulate_or_recall};
use crate::{Point, PointError, RunSize, TriedLock, Workload};

/// One point to simulate.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// What the threads do.
    pub workload: &'a Workload,
    /// The lock under which they do it.
    pub lock: TriedLock,
    /// Number of simulated cores.
    pub cores: u32,
    /// How much is simulated.
    pub size: RunSize,
}

/// Simulates all jobs on `machine` and returns their points in the order of the jobs.
///
/// Each core of the host takes a job whenever it has none. The last jobs are taken first: in a
/// sweep by ascending cores they take longest. The result does not depend on which core takes which
/// job. `progress` is called after each job, from any thread.
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
    sweep_keeping(None, jobs, machine, progress)
}

/// The same with points that were simulated before, and the new ones beside these afterwards.
pub(crate) fn sweep_keeping(
    kept: Option<&Kept<'_>>,
    jobs: &[Job<'_>],
    machine: &Description,
    progress: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, PointError> {
    let point = |index: usize| {
        let Job { workload, lock, cores, size } = jobs[index];
        simulate_or_recall(kept, (workload, lock), machine, cores, size)
    };
    let points = in_parallel(jobs.len(), &point, progress).into_iter().collect();
    if let Some(kept) = kept {
        kept.save();
    }
    points
}
