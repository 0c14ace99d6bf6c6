//! Tells the reader of the recordings that one is missing, and why. This is a file `PID.lost` beside
//! the recordings, which contains one word. The file is empty if there was no room even for the
//! word. A process that may not write in the folder makes none; the broker makes one where it could
//! give that process no recording. A recording that ends too early says so itself.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::folder::Folder;
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
    if let Ok(folder) = Folder::open()
        && folder.is_own()
    {
        let name = environment::mark_name();
        file::write_word(folder.create(&name, libc::O_WRONLY), lack.word());
    }
}
