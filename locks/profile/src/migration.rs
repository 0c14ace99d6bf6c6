//! How many cache lines move to a new holder's core inside a critical section.
//!
//! # The idea
//! A section that finds its data in its own cache lasts as long as on one core. When the last
//! holder ran on another core, each line that it wrote has to be fetched, at the cost of one
//! core-to-core transfer. So the mean hold on several cores exceeds that of the same program
//! confined to one core by *lines × transfer × share of acquisitions that come from another
//! core*, and that can be solved for the lines.
//!
//! A lock may stay with a core for long although its data does not. Suppose that a core takes the
//! lock several times in a row, but other cores wrote the protected data long ago. Then every
//! holder of the row fetches lines, not only the first one, and the same extra time means fewer
//! lines. The profile cannot tell the two cases apart. So the estimate lies between their answers:
//! either the lines go with the lock, or they are spread evenly over the cores.
//!
//! # What limits it
//! Transfers that overlap take less time than their sum. So the estimate is the number of lines
//! that are fetched one after the other, which is what a forecast needs. A thread that loses its
//! processor inside a section lengthens the mean by milliseconds. The longest holds are therefore
//! left out, and the spread includes how much the result depends on that. There is no estimate if
//! the recording does not support one: on one core, with too few hand-overs, or for a site that
//! only one run reached.

use kilocore_figures::Nanoseconds;

use crate::{Family, Frame, Histogram, Lock, Profile, Run};

/// How many holds, and how many hand-overs between cores, an estimate needs.
const LEAST_COUNT: u64 = 200;

/// The share of hand-overs between cores that an estimate needs. The effect of a smaller one is
/// lost in noise.
const LEAST_SHARE: f64 = 0.02;

/// The mean is taken over these shares of the holds, the shortest first. The middle share gives the
/// estimate, and the others its spread.
const TRIMS: [f64; 3] = [0.95, 0.98, 0.995];

/// An estimate of the lines that move to a holder from another core.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MigratingLines {
    /// The estimate, which is 0 or more.
    pub lines: f64,
    /// The lower end of what the spread of the holds and their resolution allow.
    pub low: f64,
    /// The upper end of it.
    pub high: f64,
    /// How much longer a hold was because of them in the run on several cores, on average.
    pub extra_hold: Nanoseconds<f64>,
}

/// Identifies a lock across two runs, by the place where it was created.
#[derive(PartialEq)]
struct Key<'a> {
    executable: &'a str,
    family: Family,
    attributes: &'a [String],
    site: Vec<(&'a str, u64)>,
}

fn key<'a>(executable: &'a str, lock: &'a Lock) -> Key<'a> {
    let place = |frame: &'a Frame| (frame.module.as_str(), frame.offset);
    Key {
        executable,
        family: lock.family,
        attributes: &lock.attributes,
        site: lock.site.iter().map(place).collect(),
    }
}

/// The exclusive holds of all locks of a run that have this key.
fn holds(run: &Run, wanted: &Key<'_>) -> Histogram {
    let mut sum = Histogram::default();
    for process in &run.processes {
        for lock in &process.locks {
            if key(&process.executable, lock) == *wanted {
                sum.merge(&lock.hold);
            }
        }
    }
    sum
}

impl Profile {
    /// Estimates how many cache lines move, one after the other, to a new holder of `lock` from the
    /// core of the last holder. `process` is the index of the lock's process in the first run.
    ///
    /// This needs a second run that was confined to one core, and [`core_to_core`](crate::Host).
    /// Locks of one site are not told apart in the confined run. Returns `None` if the data support
    /// no estimate, and for shared holds, whose hand-overs are not recorded.
    #[must_use]
    pub fn migrating_lines(&self, process: usize, lock: &Lock) -> Option<MigratingLines> {
        let transfer = self.host.core_to_core.filter(|time| time.0 > 0.0 && time.0.is_finite())?;
        let first = self.runs.first().filter(|run| run.cores > 1)?;
        let confined = self.runs.iter().skip(1).find(|run| run.cores == 1)?;
        let process = first.processes.get(process)?;
        let before = holds(confined, &key(&process.executable, lock));
        let handoffs = lock.handoffs;
        let total = handoffs.same_core.saturating_add(handoffs.other_core);
        let share = handoffs.other_core as f64 / total.max(1) as f64;
        let counts = [before.count, lock.hold.count, handoffs.other_core];
        if counts.iter().any(|count| *count < LEAST_COUNT) || share < LEAST_SHARE {
            return None;
        }
        let with_the_lock = transfer * share;
        let on_all_cores = transfer * share.max(1.0 - 1.0 / f64::from(first.cores));
        let extra =
            TRIMS.map(|trim| lock.hold.trimmed_mean(0.0, trim) - before.trimmed_mean(0.0, trim));
        let error = Nanoseconds(standard_error(&lock.hold).0.hypot(standard_error(&before).0));
        let least = extra.into_iter().fold(Nanoseconds(f64::INFINITY), Nanoseconds::min);
        let most = extra.into_iter().fold(Nanoseconds(f64::NEG_INFINITY), Nanoseconds::max);
        let extra_hold = extra[1].max(Nanoseconds(0.0));
        Some(MigratingLines {
            lines: extra_hold.0 / (with_the_lock.0 * on_all_cores.0).sqrt(),
            low: (least - error * 2.0).max(Nanoseconds(0.0)) / on_all_cores,
            high: (most + error * 2.0).max(Nanoseconds(0.0)) / with_the_lock,
            extra_hold,
        })
    }
}

/// Returns how far the trimmed mean may be off. This is the standard deviation of a
/// mean of that many holds, and includes the width of the buckets in which they were counted.
fn standard_error(holds: &Histogram) -> Nanoseconds<f64> {
    let [low, middle, high] = [0.159, 0.5, 0.841].map(|q| holds.quantile(q).0);
    let deviation = (high - low) / 2.0;
    let resolution = middle * 0.02;
    let error = deviation * deviation / holds.count.max(1) as f64 + resolution * resolution;
    Nanoseconds(error.sqrt())
}
