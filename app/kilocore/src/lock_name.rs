//! Locks by the names that are typed.

use kilocore_locks::{LockId, LockInfo, RwLockId};
use kilocore_names::UnknownName;
use kilocore_sim::Sim;

/// What is known of each mutex.
pub(crate) fn mutexes() -> impl Iterator<Item = &'static LockInfo> {
    LockId::ALL.iter().map(|lock| lock.info())
}

/// What is known of each read-write lock.
pub(crate) fn rw_locks() -> impl Iterator<Item = &'static LockInfo> {
    RwLockId::ALL.iter().map(|lock| lock.info())
}

/// The answer to a name that none of the `known` locks has, which are of one `kind`.
fn unknown<L: Iterator<Item = &'static LockInfo>>(
    kind: &'static str,
    name: &str,
    known: impl Fn() -> L,
) -> UnknownName {
    UnknownName::new(kind, name, known().map(|info| info.name))
        .also_called(known().flat_map(|info| info.aliases.iter().copied()))
}

/// The lock of that name, or of that name in a published data set.
pub(crate) fn lock_named(name: &str) -> Result<LockId, UnknownName> {
    LockId::named(name).ok_or_else(|| unknown("lock", name, mutexes))
}

/// The read-write lock of that name.
pub(crate) fn rw_lock_named(name: &str) -> Result<RwLockId, UnknownName> {
    RwLockId::named(name).ok_or_else(|| unknown("read-write lock", name, rw_locks))
}

/// The names of the read-write locks that can be put under a program.
pub(crate) fn names_for_programs() -> String {
    RwLockId::for_programs::<Sim>().map(RwLockId::name).collect::<Vec<_>>().join(", ")
}

/// The read-write lock of that name, to be put under a program.
pub(crate) fn rw_lock_for_programs_named(name: &str) -> Result<RwLockId, String> {
    let lock = rw_lock_named(name).map_err(|unknown| unknown.to_string())?;
    if lock.is_for_programs::<Sim>() {
        return Ok(lock);
    }
    Err(format!(
        "`{name}` does not allow that a program frees a lock as soon as its last user has left it; \
         those that do are {}",
        names_for_programs()
    ))
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
    let mutex = LockId::named(name).map(Listed::Mutex);
    mutex
        .or_else(|| RwLockId::named(name).map(Listed::ReadWrite))
        .ok_or_else(|| unknown("lock", name, || mutexes().chain(rw_locks())))
}
