//! What a forecast says of the locks that it is about.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Family, Lock};

use super::busy::Busy;
use super::group::Group;
use super::migration::Migration;
use crate::forecast_lock::ForecastLock;

/// Describes each group. `cpu_time` is the processor time of the process.
pub(super) fn described(
    groups: &[Group<'_>],
    busy: &Busy,
    migrations: &[Migration],
    cpu_time: Nanoseconds<f64>,
) -> Vec<ForecastLock> {
    let all = cpu_time.max(Nanoseconds(1.0));
    let mean = |index: usize, shared: bool| {
        let hold = busy.hold(index, shared);
        hold.time() / hold.count().max(1.0)
    };
    let describe = |(index, (group, migration)): (usize, (&Group<'_>, &Migration))| ForecastLock {
        place: group.place(),
        site: group.locks[0].site.iter().map(ToString::to_string).collect(),
        // `own_locks` completes these.
        acquired_at: Vec::new(),
        left_alone: None,
        family: match group.locks[0].family {
            Family::Mutex => "mutex",
            Family::ReadWrite => "read-write",
            Family::Spin => "spin",
        },
        writers_first: group.locks.iter().all(|lock| asked_for_writers_first(lock)),
        instances: group.locks.len() as u32,
        effective_instances: group.effective_instances(),
        acquisitions: group.exclusive,
        shared_acquisitions: group.shared,
        contended_share: group.contended as f64 / group.uses() as f64,
        hold: mean(index, group.shared > group.exclusive),
        hold_range: group.hold_range(),
        exclusive_hold: mean(index, false),
        wait: group.wait.mean(),
        lines_low: migration.lines[0],
        lines: migration.lines[1],
        lines_high: migration.lines[2],
        lines_source: migration.source,
        held_share: (busy.hold(index, false).time() + busy.hold(index, true).time()) / all,
    };
    groups.iter().zip(migrations).enumerate().map(describe).collect()
}

/// Whether the program made it by `pthread_rwlockattr_setkind_np` one that a waiting writer keeps new readers
/// out of.
fn asked_for_writers_first(lock: &Lock) -> bool {
    lock.family == Family::ReadWrite && lock.attributes.iter().any(|own| own == "prefer-writer")
}
