//! Many points at once.

use kilocore_machine::Description;
use kilocore_points::{self as points, Key, PointSource};

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

impl points::Job for Job<'_> {
    type Shared = Description;
    type Point = Point;
    type Error = LduError;

    const COMPUTATION: &'static str = "deferred updates";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        f64::from(self.cores)
    }

    fn compute(&self, machine: &Description) -> Result<Point, LduError> {
        let Self { setting, scheme, cores, updates_percent, length } = *self;
        simulate(setting, scheme, machine, cores, updates_percent, length)
    }

    fn shared_words(machine: &Description) -> String {
        format!("deferred updates on {}", machine.name)
    }

    fn words(&self) -> String {
        let Self { setting, scheme, cores, updates_percent, .. } = self;
        format!("{}, {scheme}, {cores} cores, {updates_percent} % updates", setting.workload)
    }
}

/// Returns the points of all jobs on `machine`, in the order of the jobs, as [`PointSource::points`] does. `on_done`
/// is called after each job, from any thread. If a job cannot be simulated, this is reported before any job is
/// started.
///
/// # Errors
/// The same as for [`simulate`]: the error of the first job, in their order, that has one.
///
/// # Panics
/// If a simulated scheme panics.
pub fn sweep(
    source: &PointSource,
    jobs: &[Job<'_>],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, LduError> {
    for job in jobs {
        check(machine, job.cores, job.updates_percent, job.length)?;
    }
    source.points(machine, jobs, on_done)
}
