//! Locks by the names that are typed, for commands that put them under a program or list them.

use kilocore_command_line::{mutexes, rw_locks, unknown_lock};
use kilocore_locks::{LockId, LockInfo, RwLockId};
use kilocore_machine::names::UnknownName;
use kilocore_sim::Sim;

/// The names of the read-write locks that can be put under a program.
pub(crate) fn names_for_programs() -> String {
    RwLockId::for_programs::<Sim>().map(RwLockId::name).collect::<Vec<_>>().join(", ")
}

/// The read-write lock of that name, to be put under a program.
pub(crate) fn rw_lock_for_programs_named(name: &str) -> Result<RwLockId, String> {
    match RwLockId::named(name) {
        Some(lock) if lock.is_for_programs::<Sim>() => Ok(lock),
        Some(_) => Err(format!(
            "`{name}` does not allow that a program frees a lock as soon as its last user has left \
             it; those that do are {}",
            names_for_programs()
        )),
        None => {
            let known = || RwLockId::for_programs::<Sim>().map(RwLockId::info);
            Err(unknown_lock("read-write lock", name, known).to_string())
        }
    }
}

/// A lock that is listed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ListedLock {
    Mutex(LockId),
    ReadWrite(RwLockId),
}

impl ListedLock {
    /// What is known of it.
    pub(crate) fn info(self) -> &'static LockInfo {
        match self {
            Self::Mutex(lock) => lock.info(),
            Self::ReadWrite(lock) => lock.info(),
        }
    }
}

/// The lock of that name, be it a mutex or a read-write lock.
pub(crate) fn listed_named(name: &str) -> Result<ListedLock, UnknownName> {
    let mutex = LockId::named(name).map(ListedLock::Mutex);
    mutex
        .or_else(|| RwLockId::named(name).map(ListedLock::ReadWrite))
        .ok_or_else(|| unknown_lock("lock", name, || mutexes().chain(rw_locks())))
}
