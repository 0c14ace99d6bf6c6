//! A file of pages.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::page::PageId;
use crate::store::Store;

/// A file with one page after the other, read and written at their positions. What lies beyond the end of
/// the file reads as zeros.
#[derive(Debug)]
pub struct FileStore {
    file: File,
    /// It has a lock that goes with it (`open_file.rs`).
    pub(crate) is_locked: bool,
}

impl FileStore {
    /// Makes a store of a file, which has to be open for reading and writing. That nobody else changes the file
    /// meanwhile is the caller's matter, and that its name is durable; [`open`](Self::open) sees to both.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self { file, is_locked: false }
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
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
                Err(error) => return Err(error),
            }
        }
        into[filled..].fill(0);
        Ok(())
    }

    fn write(&self, page: PageId, from: &[u8]) -> io::Result<()> {
        self.file.write_all_at(from, position(page, from.len())?)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
