//! Tells the reader of the recordings that one is missing, or ends too early, and why. This is a
//! file `PID.lost` beside the recordings, which contains one word. The file is empty if there was
//! no room even for the word.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::lack::Lack;
use crate::{environment, file};

/// The id of the process that has made its file already.
static TOLD_BY: AtomicU32 = AtomicU32::new(0);

/// Makes the file of this process, if that is possible and has not been done yet.
pub(crate) fn tell(lack: Lack) {
    // SAFETY: the function has no arguments.
    let process = unsafe { libc::getpid() } as u32;
    if TOLD_BY.swap(process, Ordering::Relaxed) == process {
        return;
    }
    if let Ok(path) = CStr::from_bytes_until_nul(&environment::mark_path()) {
        file::write_mark(path, lack.word());
    }
}
