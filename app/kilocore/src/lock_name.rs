//! Locks by the names that are typed.

use kilocore_locks::LockId;
use kilocore_names::UnknownName;

/// The lock of that name, or of that name in a published data set.
pub(crate) fn lock_named(name: &str) -> Result<LockId, UnknownName> {
    let infos = || LockId::ALL.iter().map(|lock| lock.info());
    name.parse().map_err(|_| {
        UnknownName::new("lock", name, infos().map(|info| info.name))
            .also_called(infos().flat_map(|info| info.aliases.iter().copied()))
    })
}
