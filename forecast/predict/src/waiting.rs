//! How the waiters of a lock wait, as far as that decides whether it may be recommended.

use kilocore_locks::{LockId, Waiting};

/// Whether the waiters of the lock of this name sleep in the end; one that is not known is taken to
/// spin.
pub(crate) fn parks(lock: &str) -> bool {
    waiting(lock).is_some_and(Waiting::sleeps)
}

/// Whether the lock of this name is handed to a waiter that may not be running; one that is not
/// known is taken to be.
pub(crate) fn hands_over(lock: &str) -> bool {
    waiting(lock).is_none_or(Waiting::hands_over)
}

fn waiting(lock: &str) -> Option<Waiting> {
    LockId::ALL.iter().find(|known| known.name() == lock).map(|known| known.info().waiting)
}
