//! Telling whoever reads the recordings that one is missing, or ends too early, and why: a file
//! `PID.lost` beside them that holds one word. It is empty where there was not even room for that.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::lack::Lack;
use crate::{environment, file};

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
