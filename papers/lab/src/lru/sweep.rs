//! Simulates many points at once, on all cores of the host.

use kilocore_machine::Description;
use kilocore_sim::in_parallel;

use crate::lru::run::{Job, LruError, Point, check, simulate};
use crate::lru::variants::Variant;

/// Returns a job for each variant, factor and number of threads, in this order. All else is as in `like`. A
/// variant that has no factor comes once.
#[must_use]
pub fn jobs<'a>(
    like: Job<'a>,
    variants: &[Variant],
    factors: &[u32],
    threads: &[u32],
) -> Vec<Job<'a>> {
    let mut jobs = Vec::new();
    for &variant in variants {
        for &factor in if variant.has_factor() { factors } else { &[1] } {
            jobs.extend(threads.iter().map(|&threads| Job { variant, factor, threads, ..like }));
        }
    }
    jobs
}

/// Simulates all jobs on `machine` and returns their points in the order of the jobs.
///
/// Each core of the host takes a job whenever it has none, the last jobs first. The result does not
/// depend on which core takes which job. `on_done` is called after each job, from any thread. If a
/// job cannot be simulated, this is reported before any job is started.
///
/// # Errors
/// The same as for [`simulate`]: the error of the first job, in their order, that has one.
///
/// # Panics
/// If a simulated process panics.
pub fn sweep(
    jobs: &[Job<'_>],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, LruError> {
    for job in jobs {
        check(job, machine)?;
    }
    in_parallel(jobs.len(), &|index| simulate(&jobs[index], machine), on_done).into_iter().collect()
}
