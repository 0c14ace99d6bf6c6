//! The pace on a number of cores before a change, and after it.

use serde::Serialize;

use crate::Pace;

/// How long a unit of work takes after a change, against what it took before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PaceChange {
    /// The number of cores.
    pub cores: u32,
    /// What was measured before.
    pub before: Pace,
    /// What was measured after.
    pub after: Pace,
    /// How many times as long a unit takes: of the medians. Above 1 it has become slower.
    pub times_as_long: f64,
    /// The least that the rounds allow.
    pub times_as_long_low: f64,
    /// The most that they allow.
    pub times_as_long_high: f64,
}

impl PaceChange {
    /// Holds what was measured after a change against what was measured before.
    #[must_use]
    pub fn new(cores: u32, before: Pace, after: Pace) -> Self {
        Self {
            cores,
            before,
            after,
            times_as_long: before.throughput / after.throughput,
            times_as_long_low: before.throughput_low / after.throughput_high,
            times_as_long_high: before.throughput_high / after.throughput_low,
        }
    }

    /// What the rounds say of a slowdown by more than this share.
    #[must_use]
    pub fn verdict(&self, share: f64) -> ChangeVerdict {
        if self.times_as_long_low > 1.0 + share {
            ChangeVerdict::Slower
        } else if self.times_as_long_high <= 1.0 + share {
            ChangeVerdict::NotSlower
        } else {
            ChangeVerdict::Unknown
        }
    }
}

/// Whether a program has become slower by more than a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// It has, on some number of cores.
    Slower,
    /// The runs cannot tell.
    Unknown,
    /// It has not, on any number of cores.
    NotSlower,
}
