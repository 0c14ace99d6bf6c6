//! How the waiters of a lock wait, as far as that decides whether it may be recommended.

use kilocore_locks::LockId;

/// Locks whose waiters give up their core after a while, so that the holder gets one.
const PARK: [LockId; 8] = [
    LockId::Futex,
    LockId::Adaptive,
    LockId::Mutexee,
    LockId::McsPark,
    LockId::ClhPark,
    LockId::CBoMcsPark,
    LockId::Malthusian,
    LockId::Requester,
];
/// Locks that whoever comes first may take: a waiter that lost its core keeps up nobody.
const OPEN: [LockId; 6] =
    [LockId::Tas, LockId::Ttas, LockId::Backoff, LockId::Futex, LockId::Adaptive, LockId::Mutexee];

/// Whether the waiters of the lock of this name sleep in the end; one that is not known is taken to
/// spin.
#[must_use]
pub fn parks(lock: &str) -> bool {
    PARK.iter().any(|known| known.name() == lock)
}

/// Whether the lock of this name is handed to a waiter that may not be running.
#[must_use]
pub fn hands_over(lock: &str) -> bool {
    OPEN.iter().all(|known| known.name() != lock)
}
