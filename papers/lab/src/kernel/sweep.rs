//! Many points at once.

use std::sync::{Arc, OnceLock};

use kilocore_machine::Description;
use kilocore_points::{self as points, Key, PointSource};
use kilocore_sim::{Options, Simulation};

use crate::kernel::run::{Job, KernelError, Point, simulate};

/// A job, with the key of what it replays. A path is long, so its key is made once for all jobs, when it is first asked
/// for.
struct Keyed<'a> {
    job: Job<'a>,
    setting: Arc<OnceLock<Key>>,
}

impl points::Job for Keyed<'_> {
    type Shared = Description;
    type Point = Point;
    type Error = KernelError;

    const COMPUTATION: &'static str = "a kernel's path";

    fn key(&self) -> Key {
        let Job { setting, scheme, cores } = self.job;
        let setting = self.setting.get_or_init(|| Key::of(setting));
        Key::of(&(setting, scheme, cores))
    }

    fn cost(&self) -> f64 {
        f64::from(self.job.cores)
    }

    fn compute(&self, machine: &Description) -> Result<Point, KernelError> {
        simulate(&self.job, machine)
    }

    fn shared_words(machine: &Description) -> String {
        format!("a kernel's path on {}", machine.name)
    }

    fn words(&self) -> String {
        let Job { setting, scheme, cores } = self.job;
        format!("{}, {scheme}, {cores} cores", setting.path.operation)
    }
}

/// Returns the points of all jobs on `machine`, in the order of the jobs, as [`PointSource::points`] does. `on_done`
/// is called after each job, from any thread. If a job cannot be simulated, this is reported before any job is
/// started.
///
/// # Errors
/// As for [`simulate`]: the error of the first job, in their order, that has one.
///
/// # Panics
/// If a simulated lock panics.
pub fn sweep(
    source: &PointSource,
    jobs: &[Job<'_>],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, KernelError> {
    let mut keyed: Vec<Keyed<'_>> = Vec::with_capacity(jobs.len());
    for &job in jobs {
        Simulation::new(machine, Options { cores: job.cores, seed: job.setting.seed })?;
        let known = keyed.last().filter(|last| std::ptr::eq(last.job.setting, job.setting));
        let setting = known.map_or_else(Arc::default, |last| Arc::clone(&last.setting));
        keyed.push(Keyed { job, setting });
    }
    source.points(machine, &keyed, on_done)
}
