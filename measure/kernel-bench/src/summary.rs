//! Samples, and what those of one number of cores amount to.

use kilocore_curve::median;
use serde::{Deserialize, Serialize};

use crate::statistics::{self, Interval, Noise};

/// One sample. Rates are in operations per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Where it stood among all samples of the benchmark, from 0.
    pub turn: u32,
    /// The rate of all tasks together.
    pub per_s: f64,
    /// The rate of the slowest task.
    pub slowest_task_per_s: f64,
    /// The rate of the fastest.
    pub fastest_task_per_s: f64,
    /// How long was counted, mean over the tasks.
    pub seconds: f64,
    /// What was counted, by all tasks.
    pub operations: u64,
    /// When the first task began to count, in nanoseconds of the host's monotonic clock.
    #[serde(default)]
    pub begin_ns: u64,
    /// When the last one ended.
    #[serde(default)]
    pub end_ns: u64,
    /// When the last task began to count: all ran together from then on.
    #[serde(default)]
    pub last_begin_ns: u64,
    /// When the first one ended: all ran together until then.
    #[serde(default)]
    pub first_end_ns: u64,
    /// Mean time of an operation in the slowest batch of any task.
    pub slowest_batch_ns: f64,
    /// The same in the fastest.
    pub fastest_batch_ns: f64,
    /// How often tasks lost their cores while they counted.
    pub preemptions: u64,
    /// The share of the time that tasks themselves were on their cores, at most about 1: less where
    /// they slept, waited for others, or other programs ran there.
    pub on_core: f64,
}

/// What samples amount to. Rates are medians, in operations per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The rate of all tasks together.
    pub per_s: f64,
    /// Where its true median lies.
    pub interval: Interval,
    /// How far it can be relied on.
    pub noise: Noise,
    /// How many times the rate of one core; of the fewest cores, taken for linear, if one was not
    /// measured.
    pub speedup: f64,
    /// Time of an operation as one task sees it.
    pub ns_per_operation: f64,
    /// [`Sample::on_core`].
    pub on_core: f64,
    /// The rate of the slowest task.
    pub slowest_task_per_s: f64,
    /// The rate of the fastest.
    pub fastest_task_per_s: f64,
}

impl Summary {
    /// What samples on so many cores amount to; none if there are none. The speedup is not known
    /// yet.
    #[must_use]
    pub fn of(cores: u32, samples: &[Sample]) -> Option<Self> {
        let median_of = |of: fn(&Sample) -> f64| median(samples.iter().map(of)).unwrap_or(f64::NAN);
        let per_s = median_of(|sample| sample.per_s);
        let rates = statistics::sorted(samples.iter().map(|sample| sample.per_s));
        let interval = statistics::interval(&rates)?;
        Some(Self {
            per_s,
            interval,
            noise: Noise::of(per_s, &interval),
            speedup: f64::NAN,
            ns_per_operation: f64::from(cores) / per_s * 1e9,
            on_core: median_of(|sample| sample.on_core),
            slowest_task_per_s: median_of(|sample| sample.slowest_task_per_s),
            fastest_task_per_s: median_of(|sample| sample.fastest_task_per_s),
        })
    }

    #[cfg(test)]
    pub(crate) fn plain(per_s: f64, interval: Interval, noise: Noise) -> Self {
        let (slowest_task_per_s, fastest_task_per_s) = (per_s, per_s);
        let (speedup, ns_per_operation) = (f64::NAN, 1e9 / per_s);
        Self {
            per_s,
            interval,
            noise,
            speedup,
            ns_per_operation,
            on_core: 1.0,
            slowest_task_per_s,
            fastest_task_per_s,
        }
    }
}
