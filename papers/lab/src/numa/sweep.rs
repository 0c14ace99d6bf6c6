//! Many points at once.

use kilocore_placement::{Outcome, Rule, Setting};
use kilocore_points::{self as points, Key, PointSource};

use super::run::{Job, Load, NumaError, Point, check, simulate};

/// The initial delays of figure 5, with some of those that the text names.
pub const DELAYS: [u32; 10] = [1, 10, 100, 300, 1000, 3000, 5000, 10_000, 100_000, 1_000_000];

/// Each policy with each delay, in this order. A policy that has no delay comes once.
#[must_use]
pub fn delayed(rules: &[Rule], delays: &[u32]) -> Vec<(Rule, u32)> {
    let each = |&rule: &Rule| {
        let delays = if rule.has_delay() { delays } else { &[1] };
        delays.iter().map(move |&delay| (rule, delay))
    };
    rules.iter().flat_map(each).collect()
}

/// Returns a job for each load, and each policy and delay, in this order.
#[must_use]
pub fn jobs<'a>(
    setting: &'a Setting,
    loads: &[Load],
    rules: &[Rule],
    delays: &[u32],
) -> Vec<Job<'a>> {
    let delayed = delayed(rules, delays);
    let of =
        |&load: &Load| delayed.iter().map(move |&(rule, delay)| Job { setting, load, rule, delay });
    loads.iter().flat_map(of).collect()
}

impl points::Job for Job<'_> {
    type Shared = ();
    /// What is shown of a point without the program's name, and the time at the end.
    type Point = (Outcome, u64);
    type Error = NumaError;

    const COMPUTATION: &'static str = "pages on several nodes";

    fn key(&self) -> Key {
        Key::of(self)
    }

    fn cost(&self) -> f64 {
        // Most of it is the program, which is the same under all policies.
        0.0
    }

    fn compute(&self, (): &()) -> Result<(Outcome, u64), NumaError> {
        simulate(self).map(|point| (point.outcome, point.end_cycles))
    }

    fn shared_words((): &()) -> String {
        "pages on several nodes".to_owned()
    }

    fn words(&self) -> String {
        let Self { setting, load, rule, delay } = self;
        let processors = setting.options.processors();
        format!("{}, {}, delay {delay}, {processors} processors", load.name(), rule.name())
    }
}

/// Returns the points of all jobs, in the order of the jobs, as [`PointSource::points`] does. `on_done` is called after
/// each job, from any thread.
///
/// # Errors
/// The same as for [`simulate`]: the error of the first job, in their order, that has one. If a job makes
/// no sense, this is reported before any is started.
///
/// # Panics
/// If a simulated thread panics.
pub fn sweep(
    source: &PointSource,
    jobs: &[Job<'_>],
    on_done: &(dyn Fn() + Sync),
) -> Result<Vec<Point>, NumaError> {
    for job in jobs {
        check(job)?;
    }
    let points = source.points(&(), jobs, on_done)?;
    let named = |(job, (outcome, end_cycles)): (&Job<'_>, _)| Point {
        program: job.load.name(),
        outcome,
        end_cycles,
    };
    Ok(jobs.iter().zip(points).map(named).collect())
}
