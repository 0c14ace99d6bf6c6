//! The lock that a curve is of: a mutex, or a read-write lock beside one.

use kilocore_locks::{LockId, RwLockId};
use kilocore_points::{Name, read_name};
use serde::Deserializer;

/// The lock that a curve is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriedLock {
    /// A mutex, in the place of the workload's mutexes.
    Mutex(LockId),
    /// A read-write lock. The workload has it in its [`LockUse::read_write`](crate::LockUse::read_write).
    ReadWrite {
        /// The algorithm in the place of the program's read-write locks.
        lock: RwLockId,
        /// The mutex in the place of the workload's mutexes, if it has any.
        beside: LockId,
    },
}

impl TriedLock {
    /// The name of the curve.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutex(lock) => lock.name(),
            Self::ReadWrite { lock, .. } => lock.name(),
        }
    }

    /// The mutex in the place of the workload's mutexes.
    pub(crate) fn mutex(self) -> LockId {
        match self {
            Self::Mutex(lock) | Self::ReadWrite { beside: lock, .. } => lock,
        }
    }
}

impl From<LockId> for TriedLock {
    fn from(lock: LockId) -> Self {
        Self::Mutex(lock)
    }
}

/// Reads the name of a curve.
pub(crate) fn read_lock_name<'de, D: Deserializer<'de>>(from: D) -> Result<Name, D::Error> {
    let mutexes = LockId::ALL.iter().map(|lock| lock.name());
    read_name(from, mutexes.chain(RwLockId::ALL.iter().map(|lock| lock.name())))
}
