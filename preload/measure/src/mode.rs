//! The modes in which a lock can be acquired.

use kilocore_lock_recording::mode;

/// The mode in which a lock is acquired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// The holder is alone.
    Exclusive,
    /// The holder shares the lock with other readers.
    Shared,
}

impl Mode {
    pub(crate) const fn index(self) -> usize {
        match self {
            Mode::Exclusive => mode::EXCLUSIVE,
            Mode::Shared => mode::SHARED,
        }
    }
}
