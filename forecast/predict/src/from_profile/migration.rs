//! The cache lines of data that move with the locks of a group, and the time that their moving took
//! in the profiled run.

use kilocore_lock_profile::Profile;

use super::group::Group;

/// A section that moved more lines than this would look like one that simply lasts longer.
const MOST_LINES: f64 = 256.0;
/// The cache lines of data that move with a lock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    /// Number of lines: lower, likely and upper estimate.
    pub(super) lines: [f64; 3],
    /// The time that their moving added to a hold in the profiled run, in nanoseconds.
    pub(super) extra_ns: f64,
    /// Whether the numbers are assumed because the profile does not tell them.
    pub(super) assumed: bool,
}

impl Migration {
    /// The assumption if the profile does not tell.
    pub(super) const UNKNOWN: Self = Self { lines: [0.0, 1.0, 4.0], extra_ns: 0.0, assumed: true };

    /// Returns the lines that move with a group's locks, averaged over its uses, or `None` if the
    /// profile does not tell.
    pub(super) fn of(profile: &Profile, process: usize, group: &Group<'_>) -> Option<Self> {
        let mut sum = Self { lines: [0.0; 3], extra_ns: 0.0, assumed: false };
        let mut weight = 0.0;
        for lock in &group.locks {
            let Some(estimate) = profile.migrating_lines(process, lock) else {
                continue;
            };
            let uses = lock.acquisitions as f64;
            let estimates = [estimate.low, estimate.lines, estimate.high];
            for (sum, lines) in sum.lines.iter_mut().zip(estimates) {
                *sum += uses * lines;
            }
            sum.extra_ns += uses * estimate.extra_ns;
            weight += uses;
        }
        (weight > 0.0).then(|| Self {
            lines: sum.lines.map(|lines| (lines / weight).min(MOST_LINES)),
            extra_ns: sum.extra_ns / weight,
            assumed: false,
        })
    }
}
