//! What the registry of locks says of the locks in a report.

use kilocore_figures::CurvePoint;
use kilocore_locks::{LockId, RwLockId};
use kilocore_show::curve_set::CurveSet;

/// What the lock of that name is; nothing if the registry does not know it.
pub(crate) fn about(name: &str) -> &'static str {
    let mutex = LockId::ALL.iter().find(|lock| lock.name() == name).map(|lock| lock.info());
    let rw_lock = || RwLockId::ALL.iter().find(|lock| lock.name() == name).map(|lock| lock.info());
    mutex.or_else(rw_lock).map_or("", |info| info.title)
}

/// Which curves of a program's forecast are of read-write locks, in words. The others are of mutexes.
pub(crate) fn second_choice<P: CurvePoint>(set: &CurveSet<'_, P>) -> Option<String> {
    set.today()?;
    let is_of_a_rw_lock = |name: &&str| RwLockId::ALL.iter().any(|rw_lock| rw_lock.name() == *name);
    let names: Vec<&str> =
        set.curves.iter().map(|drawn| drawn.curve.lock).filter(is_of_a_rw_lock).collect();
    (!names.is_empty()).then(|| format!("{}: in place of its read-write locks", names.join(", ")))
}
