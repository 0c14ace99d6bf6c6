//! A file of pages.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use crate::page::PageId;
use crate::store::Store;

/// A file with one page after the other, read and written at their positions. What lies beyond the end of
/// the file reads as zeros.
///
/// Direct input and output (`O_DIRECT`) work if the size of a page is a multiple of what the disk writes as a
/// whole: 512 or 4096 bytes.
#[derive(Debug)]
pub struct FileStore {
    file: File,
    /// It has a lock that goes with it (`open_file.rs`).
    pub(crate) is_locked: bool,
}

impl FileStore {
    /// Makes a store of a file, which has to be open for reading and writing. That nobody else changes the file
    /// meanwhile is the caller's matter, and that its name is durable; [`open`](Self::open) sees to both. If the
    /// file is open for appending (`O_APPEND`), every write fails, as Linux would write at the file's end.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self { file, is_locked: false }
    }

    /// Returns the file that the store reads and writes.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether the system writes at the file's end, whatever position it is given.
    fn appends(&self) -> io::Result<bool> {
        // SAFETY: this only asks for the flags of a file that is open.
        let flags = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETFL) };
        if flags < 0 { Err(io::Error::last_os_error()) } else { Ok(flags & libc::O_APPEND != 0) }
    }

    /// Returns whether the file's end is so many bytes after `start`, and some.
    fn ends_at(&self, start: u64, filled: usize) -> io::Result<bool> {
        Ok(filled > 0 && self.file.metadata()?.len() == start + filled as u64)
    }
}

/// Where a page begins, in bytes.
fn position(page: PageId, bytes: usize) -> io::Result<u64> {
    // The last byte has a position, too, and the system's positions have a sign.
    let end = page.0.checked_add(1).and_then(|pages| pages.checked_mul(bytes as u64));
    match end {
        Some(end) if i64::try_from(end).is_ok() => Ok(end - bytes as u64),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "no file is so large")),
    }
}

impl Store for FileStore {
    fn read(&self, page: PageId, into: &mut [u8]) -> io::Result<()> {
        let start = position(page, into.len())?;
        let mut filled = 0;
        while filled < into.len() {
            match self.file.read_at(&mut into[filled..], start + filled as u64) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // Direct input refuses to begin at an end of the file that is within a sector.
                Err(error)
                    if error.kind() == io::ErrorKind::InvalidInput
                        && self.ends_at(start, filled)? =>
                {
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        into[filled..].fill(0);
        Ok(())
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        // Whoever has the file may change that, so it is asked each time.
        if self.appends()? {
            let mend = "the file is open for appending, so that the system would write pages at its end: open \
                        it without `append`";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, mend));
        }
        self.file.write_all_at(from, position(page, from.len())?)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
