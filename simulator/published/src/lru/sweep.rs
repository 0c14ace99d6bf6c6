//! Simulates many points at once, on all cores of the host.

use kilocore_machine::Description;
use kilocore_sim::in_parallel;

use crate::lru::pattern::Pattern;
use crate::lru::run::{LruError, Point, RunLength, check, simulate};
use crate::lru::setting::Setting;
use crate::lru::variants::Variant;

/// One point to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// What does not depend on the variant.
    pub setting: &'a Setting,
    /// How the lists are divided.
    pub variant: Variant,
    /// The number of stripes, if the variant has several.
    pub factor: u32,
    /// What the processes do.
    pub pattern: Pattern,
    /// Hardware threads, with a process each.
    pub threads: u32,
    /// How much is simulated.
    pub length: RunLength,
}

/// Simulates all jobs on `machine` and returns their points in the order of the jobs.
///
/// Each core of the host takes a job whenever it has none, the last jobs first. The result does not
/// depend on which core takes which job. `on_done` is called after each job, from any thread. If
/// the machine has too few hardware threads, this is reported before any job is started.
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
        check(job.variant, job.factor, machine, job.threads, job.length)?;
    }
    let point = |index: usize| {
        let Job { setting, variant, factor, pattern, threads, length } = jobs[index];
        simulate(setting, variant, factor, machine, threads, pattern, length)
    };
    in_parallel(jobs.len(), &point, on_done).into_iter().collect()
}
