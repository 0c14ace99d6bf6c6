//! How the program ran while it was profiled, as far as that limits what a forecast may claim.

use kilocore_profile::{Process, Run};

use super::group::Group;

/// Processor time that a lock's own operations may take, in nanoseconds for each acquisition,
/// the recorder's included.
const OPERATIONS_NS: f64 = 1_000.0;
/// The share of the processor time beyond which what lies outside all intervals counts.
const MUCH: f64 = 0.5;

/// What threads did besides taking locks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conduct {
    /// Acquisitions of all the locks that the forecast knows.
    pub acquisitions: u64,
    /// The largest number of threads alive at the same time.
    pub peak_threads: u64,
    /// Cores that were allowed.
    pub cores: u32,
    /// How many of them were busy on average.
    pub busy_cores: f64,
    /// Cores that on average were not busy, though there were threads for them, and not because
    /// these waited for locks.
    pub unused_cores: f64,
    /// Share of all the threads' time spent waiting on condition variables.
    pub condition_share: f64,
    /// Where the condition variable that was waited on longest comes from.
    pub condition_place: Option<String>,
    /// Processor time before a thread's first lock, after its last, or in threads that take none,
    /// in nanoseconds; 0 if that is the lesser part of all.
    pub outside_ns: f64,
    /// The same as a share of all processor time.
    pub outside_share: f64,
}

impl Conduct {
    pub(super) fn new(run: &Run, process: &Process, groups: &[Group<'_>]) -> Self {
        let threads = &process.threads;
        let wall = run.wall_ns.max(1.0);
        let busy_cores = threads.cpu_ns / wall;
        let waits: f64 = groups.iter().map(|group| group.wait.sum_ns).sum();
        let able = f64::from(run.cores).min(threads.peak as f64);
        let on_conditions: f64 = process.conditions.iter().map(|c| c.wait.sum_ns).sum();
        let longest =
            process.conditions.iter().max_by(|a, b| a.wait.sum_ns.total_cmp(&b.wait.sum_ns));
        let all = threads.cpu_ns + threads.think_asleep_ns + on_conditions + waits;
        let acquisitions: u64 = groups.iter().map(Group::uses).sum();
        let held: f64 = groups.iter().map(Group::held_ns).sum();
        let known = threads.think.sum_ns + held + acquisitions as f64 * OPERATIONS_NS;
        let outside = (threads.cpu_ns - known).max(0.0);
        let outside_share = outside / threads.cpu_ns.max(1.0);
        let outside = if outside_share > MUCH { outside } else { 0.0 };
        Self {
            acquisitions,
            peak_threads: threads.peak,
            cores: run.cores,
            busy_cores,
            unused_cores: (able - busy_cores - waits / wall).max(0.0),
            condition_share: on_conditions / all.max(1.0),
            condition_place: longest
                .filter(|condition| condition.wait.sum_ns > 0.0)
                .and_then(|condition| condition.site.first())
                .map(ToString::to_string),
            outside_ns: outside,
            outside_share: if outside > 0.0 { outside_share } else { 0.0 },
        }
    }
}
