//! Telling whoever reads the recordings that one is missing, or ends too early, and why: a file
//! `PID.lost` beside them that holds one word. It is empty where there was not even room for that.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_preload_common::errno;

use crate::{environment, file};

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

    const fn word(self) -> &'static [u8] {
        match self {
            Self::Room => b"no-room\n",
            Self::Permission => b"no-permission\n",
            Self::Memory => b"no-memory\n",
        }
    }
}

/// The process that has told so already.
static TOLD_BY: AtomicU32 = AtomicU32::new(0);

/// Leaves the mark of this process, if it can and has not done so yet.
pub(crate) fn tell(lack: Lack) {
    // SAFETY: takes no argument.
    let process = unsafe { libc::getpid() } as u32;
    if TOLD_BY.swap(process, Ordering::Relaxed) == process {
        return;
    }
    if let Ok(path) = CStr::from_bytes_until_nul(&environment::mark_path()) {
        file::write_mark(path, lack.word());
    }
}
