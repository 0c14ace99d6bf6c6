//! How the waiters of a lock wait. Whether a lock may be recommended depends on it.

use kilocore_locks::{LockId, Waiting};

/// Whether the waiters of the lock of this name sleep if they wait for long. A lock that is not
/// known is assumed to spin.
pub(crate) fn parks(lock: &str) -> bool {
    waiting(lock).is_some_and(Waiting::sleeps)
}

/// Whether the lock of this name may be handed to a waiter that is not running. A lock that is not
/// known is assumed to do so.
pub(crate) fn hands_over(lock: &str) -> bool {
    waiting(lock).is_none_or(Waiting::hands_over)
}

fn waiting(lock: &str) -> Option<Waiting> {
    LockId::ALL.iter().find(|known| known.name() == lock).map(|known| known.info().waiting)
}
