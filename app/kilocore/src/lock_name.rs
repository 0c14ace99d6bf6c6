//! Locks by the names that are typed.

use kilocore_locks::{LockId, LockInfo, RwLockId};
use kilocore_names::UnknownName;

fn mutexes() -> impl Iterator<Item = &'static LockInfo> {
    LockId::ALL.iter().map(|lock| lock.info())
}

fn rw_locks() -> impl Iterator<Item = &'static LockInfo> {
    RwLockId::ALL.iter().map(|lock| lock.info())
}

/// The answer to a name that none of the `known` locks has.
fn unknown<L: Iterator<Item = &'static LockInfo>>(
    name: &str,
    known: impl Fn() -> L,
) -> UnknownName {
    UnknownName::new("lock", name, known().map(|info| info.name))
        .also_called(known().flat_map(|info| info.aliases.iter().copied()))
}

/// The lock of that name, or of that name in a published data set.
pub(crate) fn lock_named(name: &str) -> Result<LockId, UnknownName> {
    name.parse().map_err(|_| unknown(name, mutexes))
}

/// The read-write lock of that name.
pub(crate) fn rw_lock_named(name: &str) -> Result<RwLockId, UnknownName> {
    name.parse().map_err(|_| unknown(name, rw_locks))
}

/// A lock that is listed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Listed {
    /// A mutex.
    Mutex(LockId),
    /// A read-write lock.
    ReadWrite(RwLockId),
}

impl Listed {
    /// What is known of it.
    pub(crate) fn info(self) -> &'static LockInfo {
        match self {
            Self::Mutex(lock) => lock.info(),
            Self::ReadWrite(lock) => lock.info(),
        }
    }
}

/// The lock of that name, be it a mutex or a read-write lock.
pub(crate) fn listed_named(name: &str) -> Result<Listed, UnknownName> {
    name.parse()
        .map(Listed::Mutex)
        .or_else(|_| name.parse().map(Listed::ReadWrite))
        .map_err(|_| unknown(name, || mutexes().chain(rw_locks())))
}
