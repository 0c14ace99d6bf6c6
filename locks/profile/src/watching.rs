//! What a profile says of a program that was watched from outside, in windows, instead of recorded
//! from inside.

use kilocore_figures::Nanoseconds;
use serde::{Deserialize, Serialize};

/// How a run was watched.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Watching {
    /// Whether the program ran already when watching began.
    pub attached: bool,
    /// Whether a library under the program recorded its pthread locks meanwhile. Those are not among
    /// what was watched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beside_library: bool,
    /// How many windows there were. In these, and only in these, everything was recorded.
    pub windows: u64,
    /// Their length, all together.
    #[serde(rename = "windows_ns")]
    pub window_time: Nanoseconds<f64>,
    /// The share of the cores' time that watching took, by estimate, from 0 to 1.
    pub cost_share: f64,
    /// What a hit of a watchpoint cost the thread that ran into it. Absent if nothing was watched.
    #[serde(rename = "hit_ns", default, skip_serializing_if = "Option::is_none")]
    pub hit_cost: Option<Nanoseconds<f64>>,
    /// The share of all threads' time, from 0 to 1, in which they were off their cores for a reason
    /// that could not be seen.
    pub unknown_share: f64,
    /// What the user who watched may see.
    #[serde(default)]
    pub rights: Rights,
    /// The share of threads, from 0 to 1, that were followed in windows, of those that there were.
    /// The others were looked at once a window. Absent if whole cores were watched, which shows all
    /// threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub followed_share: Option<f64>,
    /// Why no word could be watched, in a few words. Absent if words could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What of the program could not be watched, a sentence for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What would name the functions that have no name here, a sentence for each file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
}

/// What the kernel lets a user see who watches a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rights {
    /// All that happens on the cores. This is for root and those who were given the right.
    #[default]
    WholeCores,
    /// The user's own threads, which are followed one by one.
    OwnThreads,
    /// The same without the kernel. Why a thread slept is known as far as the processor watched the
    /// place where it went to sleep, or somebody looked at it meanwhile.
    OwnThreadsInUserSpace,
}

/// An interval that holds the truth in nine cases of ten, or more.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interval<T = f64> {
    /// The lower end of the interval.
    pub low: T,
    /// The upper end of the interval.
    pub high: T,
}

impl<T> Interval<T> {
    /// The same interval with each end as `of` makes it, for example with a unit.
    #[must_use]
    pub fn map<U>(self, of: impl Fn(T) -> U) -> Interval<U> {
        Interval { low: of(self.low), high: of(self.high) }
    }
}

/// How well the figures of a lock are known that was watched in windows.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Precision {
    /// In how many windows its word was watched.
    pub windows: u64,
    /// Their length, all together.
    #[serde(rename = "windows_ns")]
    pub window_time: Nanoseconds<f64>,
    /// How many writes to the word they saw.
    pub writes: u64,
    /// The acquisitions of the whole run. Absent if it is not known what the writes mean. The
    /// lock's acquisitions are then its waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquisitions: Option<Interval>,
    /// The mean time in which a holder runs. Absent if holds could not be timed.
    #[serde(rename = "hold_ns", default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Interval<Nanoseconds<f64>>>,
}
