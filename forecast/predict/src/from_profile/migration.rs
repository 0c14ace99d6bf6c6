//! The lines of data that move with the locks of a group, and what their moving cost while it was
//! measured.

use kilocore_lock_profile::Profile;

use super::group::Group;

/// More lines than this cannot be told from a section that simply lasts longer.
const MOST_LINES: f64 = 256.0;
/// The lines of data that move with a lock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    /// How many: lower, likely and upper estimate.
    pub(super) lines: [f64; 3],
    /// What their moving added to a hold while it was measured, in nanoseconds.
    pub(super) extra_ns: f64,
    /// Whether the profile did not tell.
    pub(super) assumed: bool,
}

impl Migration {
    /// What is assumed where the profile does not tell.
    pub(super) const UNKNOWN: Self = Self { lines: [0.0, 1.0, 4.0], extra_ns: 0.0, assumed: true };

    /// What moves with a group's locks, as far as the profile tells.
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
