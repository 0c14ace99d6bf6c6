//! Locks by the names that are typed.

use kilocore_locks::{LockId, RwLockId};
use kilocore_names::UnknownName;

/// The lock of that name, or of that name in a published data set.
pub(crate) fn lock_named(name: &str) -> Result<LockId, UnknownName> {
    let infos = || LockId::ALL.iter().map(|lock| lock.info());
    name.parse().map_err(|_| {
        UnknownName::new("lock", name, infos().map(|info| info.name))
            .also_called(infos().flat_map(|info| info.aliases.iter().copied()))
    })
}

/// The read-write lock of that name.
pub(crate) fn rwlock_named(name: &str) -> Result<RwLockId, UnknownName> {
    let names = RwLockId::ALL.iter().map(|lock| lock.name());
    name.parse().map_err(|_| UnknownName::new("read-write lock", name, names))
}
