//! Simulates many points at once, on all cores of the host.

use kilocore_machine::Description;
use kilocore_sched_policy::PolicyName;
use kilocore_sim::in_parallel;

use crate::locks::algorithm::KernelLock;
use crate::locks::point::Point;
use crate::locks::run::{Job, LocksError, simulate};

/// Simulates all jobs on `machine` and returns their points in the order of the jobs. `on_done` is called
/// after each job, from any thread.
///
/// # Errors
/// The same as for [`simulate`]: the error of the first job, in their order, that has one.
///
/// # Panics
/// If a simulated process panics.
pub fn sweep(
    jobs: &[Job],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, LocksError> {
    in_parallel(jobs.len(), &|index| simulate(&jobs[index], machine), on_done).into_iter().collect()
}

/// Adds the speed-up over one core with the spin lock and fair scheduling to all points of loads for
/// which that point is among them.
pub fn with_speedups(points: &mut [Point]) {
    let fair = PolicyName::Fair.to_string();
    let base =
        |point: &Point| point.cores == 1 && point.lock == KernelLock::Spin && point.policy == fair;
    let alone: Vec<(&str, f64)> = points
        .iter()
        .filter(|point| base(point))
        .map(|point| (point.load, point.throughput))
        .collect();
    for point in points {
        let one = alone.iter().find(|one| one.0 == point.load);
        point.speedup = one.map(|one| point.throughput / one.1);
    }
}

/// The best fixed number of cores.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// How many cores.
    pub k: u32,
    /// The point with it.
    pub point: Point,
}

/// The best of the points of one load, lock and number of cores that are confined to a fixed number.
#[must_use]
pub fn best_static(points: &[Point], like: &Point) -> Option<Best> {
    let confined = points.iter().filter(|point| {
        let same = point.load == like.load && point.lock == like.lock && point.cores == like.cores;
        same && point.policy.starts_with("confined=")
    });
    let best = confined.max_by(|a, b| a.throughput.total_cmp(&b.throughput))?;
    Some(Best { k: best.k?, point: best.clone() })
}
