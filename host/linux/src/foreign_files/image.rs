//! Parts of a file, in private memory, each at its place.
//!
//! Readers of executable files want the bytes of a file as one slice, and look at few of them. A mapping
//! would give that, but whoever may write to the file could take its pages away or change them under the
//! reader. So memory without any pages is laid out in the file's size, and the parts that are wanted are
//! read into their places. The rest reads as zeros and costs nothing.

use std::fmt;
use std::ops::{Deref, Range};

use memmap2::{MmapMut, MmapOptions};

use crate::foreign_files::file::{ForeignFile, ForeignFileError};
use crate::foreign_files::room::{Room, Taken};

/// The size of a page at least.
const PAGE: u64 = 4096;

/// A file of which some parts were read.
pub struct Image {
    bytes: MmapMut,
    /// Where the file has been read, in no order; they may touch.
    read: Vec<Range<u64>>,
    taken: Taken,
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("size", &self.bytes.len()).finish_non_exhaustive()
    }
}

impl Image {
    /// The largest file. Libraries with all their debugging information have a few gigabytes.
    const LARGEST: u64 = 1 << 36;

    /// Lays out a file of which nothing has been read.
    ///
    /// # Errors
    /// If it is larger than any program, or there are no addresses for it.
    pub fn of(file: &ForeignFile) -> Result<Self, ForeignFileError> {
        let too_large =
            || ForeignFileError::TooLarge { path: file.path().to_owned(), size: file.size() };
        let size = usize::try_from(file.size().min(Self::LARGEST + 1)).map_err(|_| too_large())?;
        if file.size() > Self::LARGEST {
            return Err(too_large());
        }
        let bytes = MmapOptions::new().len(size.max(1)).no_reserve_swap().map_anon();
        let bytes = bytes
            .map_err(|source| ForeignFileError::Read { path: file.path().to_owned(), source })?;
        Ok(Self { bytes, read: Vec::new(), taken: file.take(Room::of_this_process(), 0)? })
    }

    /// Reads a part of the file to its place. What lies outside of the file is left out, and what was read
    /// before is not read again.
    ///
    /// # Errors
    /// If it cannot be read, or there is no room for it.
    pub fn fill(&mut self, file: &ForeignFile, part: Range<u64>) -> Result<(), ForeignFileError> {
        let end = part.end.min(file.size());
        if part.start >= end
            || self.read.iter().any(|read| read.start <= part.start && end <= read.end)
        {
            return Ok(());
        }
        let pages = part.start / PAGE * PAGE..end.next_multiple_of(PAGE);
        self.taken.join(file.take(Room::of_this_process(), pages.end - pages.start)?);
        // Both are below the size, which is one of memory.
        file.read_at(&mut self.bytes[part.start as usize..end as usize], part.start)?;
        self.read.push(part.start..end);
        Ok(())
    }

    /// How many bytes are counted as taken.
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        self.read.iter().map(|part| part.end - part.start).sum()
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
