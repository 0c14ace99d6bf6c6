//! What a control group allowed a program of the cores' time, and how it held the program up.

use std::fmt;

use kilocore_figures::Nanoseconds;
use serde::{Deserialize, Serialize};

/// From this share of the cores' time on, being held up decides what a program does: a thread that is held up
/// while it has a lock makes all others wait.
const HELD_UP: f64 = 0.02;
/// The same for the share of a limit's periods, where the kernel does not tell the time.
const HELD_UP_PERIODS: f64 = 0.05;

/// What a control group allowed a program of the cores' time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CpuLimit {
    /// How many cores' time.
    pub cores: f64,
    /// The periods of the limit in which the program wanted to run.
    pub periods: u64,
    /// The periods in which it was held up because it had used up its time.
    pub throttled: u64,
    /// How long it was held up, summed over the cores on which it wanted to run. Absent if the kernel does
    /// not tell.
    #[serde(rename = "throttled_ns", default, skip_serializing_if = "Option::is_none")]
    pub throttled_time: Option<Nanoseconds<f64>>,
    /// The control group, from the top of what is seen on the machine: `/box`. Absent if not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

impl CpuLimit {
    /// Whether it held the program up, or allows less than so many cores.
    #[must_use]
    pub fn binds(&self, cores: u32) -> bool {
        self.throttled > 0 || self.cores < f64::from(cores)
    }

    /// The share of the time of so many cores for which it held up a run of this length, from 0 to 1, if the
    /// kernel tells.
    #[must_use]
    pub fn held_up_share(&self, cores: u32, wall_time: Nanoseconds<f64>) -> Option<f64> {
        let all = wall_time.max(Nanoseconds(1.0)) * f64::from(cores.max(1));
        Some((self.throttled_time? / all).clamp(0.0, 1.0))
    }

    /// Whether it held up a run of this length on so many cores for so long that this decides what the
    /// program did: for more than 2 % of the cores' time or, where the kernel does not tell that, in more than
    /// 5 % of its periods.
    #[must_use]
    pub fn held_up(&self, cores: u32, wall_time: Nanoseconds<f64>) -> bool {
        match self.held_up_share(cores, wall_time) {
            Some(share) => share > HELD_UP,
            None => self.throttled as f64 > HELD_UP_PERIODS * self.periods.max(1) as f64,
        }
    }
}

impl fmt::Display for CpuLimit {
    /// As in `a quota of 1 core (cgroup /box)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cores {
            1.0 => f.write_str("a quota of 1 core")?,
            cores if cores.fract() == 0.0 => write!(f, "a quota of {cores:.0} cores")?,
            cores => write!(f, "a quota of {cores:.2} cores")?,
        }
        match &self.group {
            Some(group) => write!(f, " (cgroup {group})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_decides_and_where_it_is_not_known_the_periods_do() {
        let second = Nanoseconds(1e9);
        let limit = |throttled: u64, time: Option<f64>| CpuLimit {
            cores: 1.0,
            periods: 10,
            throttled,
            throttled_time: time.map(|share| second * share),
            group: None,
        };
        // Each period for a moment, as where Kilocore itself needs some of the group's time.
        assert!(!limit(10, Some(0.03)).held_up(2, second));
        assert!(limit(1, Some(0.05)).held_up(2, second));
        assert!(limit(1, None).held_up(2, second) && !limit(0, None).held_up(2, second));
        assert_eq!(limit(10, Some(0.5)).held_up_share(2, second), Some(0.25));
        assert_eq!(limit(10, Some(9.0)).held_up_share(2, second), Some(1.0));
        assert_eq!(limit(10, None).held_up_share(0, second), None);
    }

    #[test]
    fn a_quota_is_told_with_its_group() {
        let told = |cores, group: Option<&str>| {
            CpuLimit { cores, group: group.map(str::to_owned), ..CpuLimit::default() }.to_string()
        };
        assert_eq!(told(1.0, Some("/box")), "a quota of 1 core (cgroup /box)");
        assert_eq!(told(2.0, None), "a quota of 2 cores");
        assert_eq!(told(0.5, Some("/")), "a quota of 0.50 cores (cgroup /)");
    }
}
