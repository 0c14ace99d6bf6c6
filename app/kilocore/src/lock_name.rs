//! Locks by the names that are typed.

use kilocore_locks::{LockId, LockInfo, RwLockId};
use kilocore_names::UnknownName;
use kilocore_sim::Sim;

fn mutexes() -> impl Iterator<Item = &'static LockInfo> {
    LockId::ALL.iter().map(|lock| lock.info())
}

fn rw_locks() -> impl Iterator<Item = &'static LockInfo> {
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
    name.parse().map_err(|_| unknown("lock", name, mutexes))
}

/// The read-write lock of that name.
pub(crate) fn rw_lock_named(name: &str) -> Result<RwLockId, UnknownName> {
    name.parse().map_err(|_| unknown("read-write lock", name, rw_locks))
}

/// Whether a read-write lock can be put under a program, which may free the memory of a lock as soon
/// as its last user has left it.
pub(crate) fn is_for_programs(lock: RwLockId) -> bool {
    lock.holder_may_destroy::<Sim>()
}

/// The read-write lock of that name, to be put under a program.
pub(crate) fn rw_lock_for_programs_named(name: &str) -> Result<RwLockId, String> {
    let lock = rw_lock_named(name).map_err(|unknown| unknown.to_string())?;
    if is_for_programs(lock) {
        return Ok(lock);
    }
    let fit: Vec<&str> = RwLockId::ALL
        .iter()
        .filter(|&&lock| is_for_programs(lock))
        .map(|lock| lock.name())
        .collect();
    Err(format!(
        "`{name}` does not allow that a program frees a lock as soon as its last user has left it; \
         those that do are {}",
        fit.join(", ")
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
    name.parse()
        .map(Listed::Mutex)
        .or_else(|_| name.parse().map(Listed::ReadWrite))
        .map_err(|_| unknown("lock", name, || mutexes().chain(rw_locks())))
}
