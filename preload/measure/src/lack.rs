//! What can be lacking to record something.

use kilocore_preload_common::errno;

/// What was lacking to record something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The file system is full, or files may not be so large, or so many.
    Room,
    /// The file or its directory may not be written, or is not there.
    Permission,
    /// There is no memory, or no more address space.
    Memory,
}

impl Lack {
    /// What the last system call that failed says.
    pub(crate) fn from_errno() -> Self {
        match errno::current() {
            libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::EMFILE | libc::ENFILE => Self::Room,
            libc::ENOMEM | libc::EAGAIN => Self::Memory,
            _ => Self::Permission,
        }
    }

    /// The word that the mark of a process holds for it.
    pub(crate) const fn word(self) -> &'static [u8] {
        match self {
            Self::Room => b"no-room\n",
            Self::Permission => b"no-permission\n",
            Self::Memory => b"no-memory\n",
        }
    }
}
