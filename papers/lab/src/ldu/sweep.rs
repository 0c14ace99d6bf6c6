//! Simulates many points at once, on all cores of the host.

use kilocore_machine::Description;
use kilocore_sim::in_parallel;

use crate::ldu::run::{LduError, Point, RunLength, check, simulate};
use crate::ldu::schemes::SchemeId;
use crate::ldu::workload::Setting;

/// One point to simulate.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The workload, with all its figures.
    pub setting: &'a Setting,
    /// How the reverse mapping is shared.
    pub scheme: SchemeId,
    /// How many cores the workload runs on.
    pub cores: u32,
    /// Share of the reverse mapping's operations that are updates, in percent.
    pub updates_percent: f64,
    /// How much is simulated.
    pub length: RunLength,
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
/// If a simulated scheme panics.
pub fn sweep(
    jobs: &[Job<'_>],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, LduError> {
    for job in jobs {
        check(machine, job.cores, job.updates_percent, job.length)?;
    }
    let point = |index: usize| {
        let Job { setting, scheme, cores, updates_percent, length } = jobs[index];
        simulate(setting, scheme, machine, cores, updates_percent, length)
    };
    in_parallel(jobs.len(), &point, on_done).into_iter().collect()
}
