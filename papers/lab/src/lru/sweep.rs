//! Many points at once.

use kilocore_machine::Description;
use kilocore_points::{self as points, Key, PointSource};

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

impl points::Job for Job<'_> {
    type Shared = Description;
    type Point = Point;
    type Error = LruError;

    const COMPUTATION: &'static str = "a page cache's lists";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        f64::from(self.threads)
    }

    fn compute(&self, machine: &Description) -> Result<Point, LruError> {
        simulate(self, machine)
    }

    fn shared_words(machine: &Description) -> String {
        format!("a page cache's lists on {}", machine.name)
    }

    fn words(&self) -> String {
        let Self { pattern, variant, factor, threads, .. } = self;
        format!("{pattern}, {variant} of {factor}, {threads} threads")
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
/// If a simulated process panics.
pub fn sweep(
    source: &PointSource,
    jobs: &[Job<'_>],
    machine: &Description,
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, LruError> {
    for job in jobs {
        check(job, machine)?;
    }
    source.points(machine, jobs, on_done)
}
