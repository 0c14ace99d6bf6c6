//! Locks by the names that are typed.

use kilocore_locks::{LockId, LockInfo, RwLockId};
use kilocore_machine::names::UnknownName;

/// What is known of each mutex.
pub fn mutexes() -> impl Iterator<Item = &'static LockInfo> {
    LockId::ALL.iter().map(|lock| lock.info())
}

/// What is known of each read-write lock.
pub fn rw_locks() -> impl Iterator<Item = &'static LockInfo> {
    RwLockId::ALL.iter().map(|lock| lock.info())
}

/// The answer to a name that none of the `known` locks has, which are of one `kind`.
#[must_use]
pub fn unknown_lock<L: Iterator<Item = &'static LockInfo>>(
    kind: &'static str,
    name: &str,
    known: impl Fn() -> L,
) -> UnknownName {
    UnknownName::new(kind, name, known().map(|info| info.name))
        .also_called(known().flat_map(|info| info.aliases.iter().copied()))
}

/// The lock of that name, or of that name in a published data set.
///
/// # Errors
/// The names that there are.
pub fn lock_named(name: &str) -> Result<LockId, UnknownName> {
    LockId::named(name).ok_or_else(|| unknown_lock("lock", name, mutexes))
}

/// The read-write lock of that name.
///
/// # Errors
/// The names that there are.
pub fn rw_lock_named(name: &str) -> Result<RwLockId, UnknownName> {
    RwLockId::named(name).ok_or_else(|| unknown_lock("read-write lock", name, rw_locks))
}
