//! Open folders, and the lock by which one is held.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a folder itself, not what a link leads to.
pub(crate) fn open(folder: &Path) -> io::Result<File> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags).open(folder)
}

/// Takes a lock on an open folder, in the way that `flock` is told.
pub(crate) fn lock(file: &File, how: libc::c_int) -> io::Result<()> {
    loop {
        // SAFETY: the descriptor is open, and the other argument is an integer.
        if unsafe { libc::flock(file.as_raw_fd(), how) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
