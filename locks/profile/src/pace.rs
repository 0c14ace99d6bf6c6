//! How fast a program is on a number of cores, as several rounds of timed runs have it.

use serde::Serialize;

/// How fast a program is on a number of cores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pace {
    /// Rounds that the figures are of.
    pub rounds: usize,
    /// Units of work in a second: the median of the rounds.
    pub throughput: f64,
    /// The least of the rounds.
    pub throughput_low: f64,
    /// The most of the rounds.
    pub throughput_high: f64,
    /// Processor time of a unit of work in nanoseconds: the median of the rounds.
    #[serde(rename = "cpu_ns_per_unit")]
    pub cpu_time_per_unit: f64,
    /// How many times as much it does as on one core: the median of the rounds.
    pub speedup: f64,
    /// The least of the rounds.
    pub speedup_low: f64,
    /// The most of the rounds.
    pub speedup_high: f64,
}
