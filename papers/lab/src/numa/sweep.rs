//! Simulates many points at once, on all cores of the host.

use kilocore_placement::{Rule, Setting};
use kilocore_sim::in_parallel;

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

/// Simulates all jobs and returns their points in the order of the jobs.
///
/// Each core of the host takes a job whenever it has none. The result does not depend on which core takes
/// which job. `on_done` is called after each job, from any thread.
///
/// # Errors
/// The same as for [`simulate`]: the error of the first job, in their order, that has one. If a job makes
/// no sense, this is reported before any is started.
///
/// # Panics
/// If a simulated thread panics.
pub fn sweep(jobs: &[Job<'_>], on_done: &(dyn Fn() + Sync)) -> Result<Vec<Point>, NumaError> {
    for job in jobs {
        check(job)?;
    }
    in_parallel(jobs.len(), &|index| simulate(&jobs[index]), on_done).into_iter().collect()
}
