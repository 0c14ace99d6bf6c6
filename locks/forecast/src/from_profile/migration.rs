//! The cache lines of data that move with the locks of a group, and the time that their moving took
//! in the profiled run.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Family, Lock, Profile, Traced};
use kilocore_sim::MOST_OVERLAP;

use super::group::Group;
use crate::forecast_lock::LinesSource;

/// A section that moved more lines than this would look like one that simply lasts longer.
const MOST_LINES: f64 = 256.0;
/// A trace in which a lock changed hands less often than this tells little of how many lines move with it.
const LEAST_HANDOVERS: u64 = 30;

/// The cache lines of data that move with a lock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    /// Number of lines: lower, likely and upper estimate.
    pub(super) lines: [f64; 3],
    /// The time that their moving added to a hold in the profiled run.
    pub(super) extra_hold: Nanoseconds<f64>,
    /// Where the numbers are known from.
    pub(super) source: LinesSource,
}

impl Migration {
    /// The assumption if the profile does not tell.
    pub(super) const UNKNOWN: Self =
        Self { lines: [0.0, 1.0, 4.0], extra_hold: Nanoseconds(0.0), source: LinesSource::Assumed };

    /// Returns the lines that move with a group's locks, averaged over its uses, or `None` if the
    /// profile does not tell. A trace goes before estimates.
    pub(super) fn of(profile: &Profile, process: usize, group: &Group<'_>) -> Option<Self> {
        let mut traced = Mean::default();
        let mut estimated = Mean::default();
        for lock in &group.locks {
            let uses = lock.acquisitions as f64;
            let estimate = profile.migrating_lines(process, lock);
            if let Some(estimate) = &estimate {
                let lines = [estimate.low, estimate.lines, estimate.high];
                estimated.add(uses, lines, estimate.extra_hold);
            }
            if let Some(known) = lock.traced.filter(|known| tells(lock, known)) {
                let lines = band(&known);
                let extra_hold = estimate
                    .map_or_else(|| moving(profile, lock, lines[1]), |known| known.extra_hold);
                traced.add(uses, lines, extra_hold);
            }
        }
        traced
            .migration(LinesSource::Traced)
            .or_else(|| estimated.migration(LinesSource::Estimated))
    }
}

/// Whether a trace tells how many lines move with a lock. Of a read-write lock it sees only the times when it
/// looks like a mutex.
fn tells(lock: &Lock, traced: &Traced) -> bool {
    lock.family != Family::ReadWrite && traced.handovers >= LEAST_HANDOVERS
}

/// How many transfers' time a handover takes, by the lines that were counted.
///
/// Lines that come in turn take the sum of their times, and no core is faster than that. The others come
/// meanwhile, but a core has only so many fetches under way: each further line takes the time of a transfer
/// divided by that number. If there were only one, all lines would come in turn.
///
/// An estimate of the same is not looked at here, so that it stays something to compare with.
fn band(traced: &Traced) -> [f64; 3] {
    let most = traced.lines().max(0.0);
    let least = traced.lines_in_turn.clamp(most.min(1.0), most);
    [least, least + (most - least) / f64::from(MOST_OVERLAP), most]
}

/// The time that moving so many lines at each handover added to a hold of this lock on average, as far as
/// the profile tells.
fn moving(profile: &Profile, lock: &Lock, lines: f64) -> Nanoseconds<f64> {
    let transfer = profile.host.core_to_core.filter(|time| time.0.is_finite()).unwrap_or_default();
    let all = lock.handoffs.same_core.saturating_add(lock.handoffs.other_core);
    transfer.max(Nanoseconds(0.0)) * lines * lock.handoffs.other_core as f64 / all.max(1) as f64
}

/// A mean over the locks of a group.
#[derive(Debug, Default)]
struct Mean {
    lines: [f64; 3],
    extra_hold: Nanoseconds<f64>,
    weight: f64,
}

impl Mean {
    fn add(&mut self, uses: f64, lines: [f64; 3], extra_hold: Nanoseconds<f64>) {
        for (sum, lines) in self.lines.iter_mut().zip(lines) {
            *sum += uses * lines;
        }
        self.extra_hold += extra_hold * uses;
        self.weight += uses;
    }

    fn migration(&self, source: LinesSource) -> Option<Migration> {
        (self.weight > 0.0).then(|| Migration {
            lines: self.lines.map(|lines| (lines / self.weight).min(MOST_LINES)),
            extra_hold: self.extra_hold / self.weight,
            source,
        })
    }
}
