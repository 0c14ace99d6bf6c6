//! Many points at once.

use std::sync::{Arc, OnceLock};

use kilocore_machine::Description;
use kilocore_points::{self as points, Key, PointSource};

use crate::simulated::run::{Job, Load, PagesError, Point, simulate};

/// A job, with the key of what is done with pages. A trace is long, so its key is made once for all jobs, when it is
/// first asked for.
struct Keyed<'a> {
    job: Job<'a>,
    load: Arc<OnceLock<Key>>,
}

impl points::Job for Keyed<'_> {
    type Shared = Description;
    type Point = Point;
    type Error = PagesError;

    const COMPUTATION: &'static str = "a page pool";

    fn key(&self) -> Key {
        let Job { setting, policy, load, cores, length } = self.job;
        let load = self.load.get_or_init(|| Key::of(&load));
        Key::of(&(setting, policy, load, cores, length))
    }

    fn cost(&self) -> f64 {
        f64::from(self.job.cores)
    }

    fn compute(&self, machine: &Description) -> Result<Point, PagesError> {
        simulate(&self.job, machine)
    }

    fn shared_words(machine: &Description) -> String {
        format!("a page pool on {}", machine.name)
    }

    fn words(&self) -> String {
        let Job { policy, load, cores, .. } = self.job;
        let load = match load {
            Load::Trace(_) => "a trace".to_owned(),
            Load::Pattern(pattern) => format!("the pattern {pattern}"),
        };
        format!("{load}, {}, {cores} hardware threads", policy.name())
    }
}

/// Returns the points of all jobs on `machine`, in the order of the jobs, as [`PointSource::points`] does. `on_done`
/// is called after each, from any thread.
///
/// # Errors
/// The error of the first job, in their order, that has one.
///
/// # Panics
/// If a simulated task panics.
pub fn sweep(
    source: &PointSource,
    jobs: &[Job<'_>],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, PagesError> {
    let mut keyed: Vec<Keyed<'_>> = Vec::with_capacity(jobs.len());
    for &job in jobs {
        let known = keyed.last().filter(|last| is_same(last.job.load, job.load));
        let load = known.map_or_else(Arc::default, |last| Arc::clone(&last.load));
        keyed.push(Keyed { job, load });
    }
    source.points(machine, &keyed, on_done)
}

/// Whether two loads are the same trace in the same place. No trace is looked into for it.
fn is_same(one: Load<'_>, other: Load<'_>) -> bool {
    match (one, other) {
        (Load::Trace(one), Load::Trace(other)) => std::ptr::eq(one, other),
        _ => false,
    }
}
