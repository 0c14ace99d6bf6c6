//! The reasons why something could not be recorded.

use kilocore_lock_recording::lack;
use kilocore_preload_common::errno;

/// What was missing to record something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The file system is full, or the limit of a file's size or of the number of files is reached.
    Room,
    /// The file or its directory may not be written, or does not exist.
    Permission,
    /// There is no memory, or no more address space.
    Memory,
}

impl Lack {
    /// Returns what was missing according to the last system call that failed.
    pub(crate) fn from_errno() -> Self {
        match errno::current() {
            libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::EMFILE | libc::ENFILE => Self::Room,
            libc::ENOMEM | libc::EAGAIN => Self::Memory,
            _ => Self::Permission,
        }
    }

    /// Returns the word that is written to the process's `.lost` file.
    pub(crate) const fn word(self) -> &'static [u8] {
        match self {
            Self::Room => b"no-room\n",
            Self::Permission => b"no-permission\n",
            Self::Memory => b"no-memory\n",
        }
    }

    /// Returns the number that is written into a recording that cannot grow.
    pub(crate) const fn number(self) -> u64 {
        match self {
            Self::Room => lack::ROOM,
            Self::Permission => lack::PERMISSION,
            Self::Memory => lack::MEMORY,
        }
    }
}
