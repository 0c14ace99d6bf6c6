//! How a lock is acquired.

use kilocore_lock_recording::mode;

/// How a lock is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Alone.
    Exclusive,
    /// With other readers.
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
