//! One point of a curve.

use serde::Serialize;

/// The result: one point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The lock.
    pub lock: &'static str,
    /// Cores.
    pub cores: u32,
    /// Threads on them.
    pub threads: u32,
    /// Outermost sections finished per second of simulated time.
    pub throughput_per_s: f64,
    /// Half the width of the 95 % confidence interval of that, from the simulation's own chance.
    pub throughput_error_per_s: f64,
    /// Share of the threads' time between asking for a lock and having it.
    pub wait_share: f64,
    /// Share of the threads' time inside the operations of each lock of the workload, or group of
    /// locks that are used alike: waiting for it, taking it and letting it go.
    pub lock_share_by_lock: Vec<f64>,
    /// Energy for each section, everything of the sockets in use included.
    pub joules_per_op: f64,
    /// Share of the cores' time spent computing.
    pub working_share: f64,
    /// Share spent waiting for cache lines.
    pub stalled_share: f64,
    /// Share spent spinning.
    pub spinning_share: f64,
    /// Share spent in low-power waits.
    pub low_power_share: f64,
    /// Share spent in the operating system.
    pub system_share: f64,
    /// The rest: cores with nothing to run.
    pub idle_share: f64,
    /// Sections of the thread that finished the fewest, as a share of the mean.
    pub fairness: f64,
}

#[cfg(test)]
impl Point {
    /// A point without figures.
    pub(crate) fn empty(lock: &'static str) -> Self {
        Self {
            lock,
            cores: 1,
            threads: 1,
            throughput_per_s: 0.0,
            throughput_error_per_s: 0.0,
            wait_share: 0.0,
            lock_share_by_lock: Vec::new(),
            joules_per_op: 0.0,
            working_share: 0.0,
            stalled_share: 0.0,
            spinning_share: 0.0,
            low_power_share: 0.0,
            system_share: 0.0,
            idle_share: 0.0,
            fairness: 0.0,
        }
    }
}
