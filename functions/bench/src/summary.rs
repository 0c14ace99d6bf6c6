//! Samples, and the summary of those on one number of cores.

use kilocore_figures::{Nanoseconds, median};
use serde::{Deserialize, Serialize};

use crate::statistics::{self, Interval, Noise};

/// One sample. Rates are in operations per second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Its position among all samples of the benchmark, from 0.
    pub turn: u32,
    /// The rate of all tasks together.
    pub per_s: f64,
    /// The rate of the slowest task.
    pub slowest_task_per_s: f64,
    /// The rate of the fastest task.
    pub fastest_task_per_s: f64,
    /// For how many seconds operations were counted: the mean over the tasks.
    pub seconds: f64,
    /// How many operations all tasks counted together.
    pub operations: u64,
    /// When the first task began to count, by the host's monotonic clock.
    #[serde(rename = "begin_ns", default)]
    pub begin: Nanoseconds,
    /// When the last task stopped counting.
    #[serde(rename = "end_ns", default)]
    pub end: Nanoseconds,
    /// When the last task began to count. From then on, all counted together.
    #[serde(rename = "last_begin_ns", default)]
    pub last_begin: Nanoseconds,
    /// When the first task stopped counting. Until then, all counted together.
    #[serde(rename = "first_end_ns", default)]
    pub first_end: Nanoseconds,
    /// The mean time of an operation in the slowest batch of any task.
    #[serde(rename = "slowest_batch_ns")]
    pub slowest_batch: Nanoseconds<f64>,
    /// The mean time of an operation in the fastest batch of any task.
    #[serde(rename = "fastest_batch_ns")]
    pub fastest_batch: Nanoseconds<f64>,
    /// How often tasks lost their cores while they counted.
    pub preemptions: u64,
    /// The share of the time in which the tasks were on their cores, at most about 1. It is less if
    /// they slept, waited for others, or were displaced by other programs.
    pub on_core: f64,
}

/// The summary of some samples. Rates are medians, in operations per second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The rate of all tasks together.
    pub per_s: f64,
    /// The interval in which the true median of the rate lies.
    pub interval: Interval,
    /// How far the rate can be relied on.
    pub noise: Noise,
    /// The rate divided by that of one core. If one core was not measured, its rate is taken to be
    /// that of the fewest cores divided by their number.
    pub speedup: f64,
    /// The time of an operation as one task sees it.
    pub ns_per_operation: f64,
    /// The median of [`Sample::on_core`].
    pub on_core: f64,
    /// The rate of the slowest task.
    pub slowest_task_per_s: f64,
    /// The rate of the fastest task.
    pub fastest_task_per_s: f64,
}

impl Summary {
    /// Summarizes the samples on `cores` cores. Returns `None` if there are none. The speedup is
    /// NaN, because it is not known yet.
    #[must_use]
    pub fn of(cores: u32, samples: &[Sample]) -> Option<Self> {
        let median_of = |of: fn(&Sample) -> f64| median(samples.iter().map(of)).unwrap_or(f64::NAN);
        let per_s = median_of(|sample| sample.per_s);
        let rates = kilocore_figures::ascending(samples.iter().map(|sample| sample.per_s));
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
