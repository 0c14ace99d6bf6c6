//! A regular file of somebody else.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::foreign_files::opening::{self, LastLink};
use crate::foreign_files::room::{NoRoom, Room};

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum ForeignFileError {
    /// It cannot be opened or read.
    #[error("{path}: {source}")]
    Read {
        /// The path by which it was named.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a pipe, a device or something else whose opening may wait or do something.
    #[error("{path} is not a regular file")]
    NotRegular {
        /// The path by which it was named.
        path: PathBuf,
    },
    /// The kernel makes up what is read of it.
    #[error("{path} is not a regular file: the kernel makes up what is in it")]
    OfTheKernel {
        /// The path by which it was named.
        path: PathBuf,
    },
    /// It belongs to somebody who is not believed.
    #[error("{path} belongs to user {owner}, who has no say here")]
    OtherOwner {
        /// The path by which it was named.
        path: PathBuf,
        /// The number of the user to whom it belongs.
        owner: u32,
    },
    /// It is larger than any file of its kind.
    #[error("{path} is larger than any file of its kind ({size} bytes)")]
    TooLarge {
        /// The path by which it was named.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// There is no room in memory for it.
    #[error("{path} is not read: {source}")]
    NoRoom {
        /// The path by which it was named.
        path: PathBuf,
        /// How much is missing.
        source: NoRoom,
    },
}

/// What tells whether a path still leads to the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

/// A regular file that is open for reading. It is never mapped: whoever may write to a file may also cut
/// it short, and reading a mapping then ends the reader with SIGBUS.
#[derive(Debug)]
pub struct ForeignFile {
    path: PathBuf,
    file: File,
    metadata: Metadata,
}

impl ForeignFile {
    /// Opens a file at the end of all links. Nothing else than a regular file is opened, not even for a
    /// moment. Links below `/proc/PID/root` are followed as that process would.
    ///
    /// # Errors
    /// If it cannot be read, is no regular file, or is one of those that the kernel makes up.
    pub fn open(path: &Path) -> Result<Self, ForeignFileError> {
        Self::at(path, LastLink::Followed)
    }

    /// Opens a file in a folder in which anybody may create one, such as `/tmp`. It must belong to one of
    /// `owners`, and a link is not followed.
    ///
    /// # Errors
    /// As [`open`](Self::open); also if it is a link, or belongs to somebody else.
    pub fn open_in_shared_folder(path: &Path, owners: &[u32]) -> Result<Self, ForeignFileError> {
        Self::at(path, LastLink::Refused)?.of(owners)
    }

    fn at(path: &Path, last: LastLink) -> Result<Self, ForeignFileError> {
        let fail = |source| ForeignFileError::Read { path: path.to_owned(), source };
        let found = opening::follow(path, last).map_err(fail)?;
        // The duplicate is of the same entry that opens nothing; only its metadata are asked for.
        let metadata = File::from(found.try_clone().map_err(fail)?).metadata().map_err(fail)?;
        if !metadata.is_file() {
            return Err(ForeignFileError::NotRegular { path: path.to_owned() });
        }
        if opening::is_of_the_kernel(&found).map_err(fail)? {
            return Err(ForeignFileError::OfTheKernel { path: path.to_owned() });
        }
        let file = opening::open(&found).map_err(fail)?;
        Ok(Self { path: path.to_owned(), file, metadata })
    }

    /// The file, if it belongs to one of these users.
    ///
    /// # Errors
    /// If it belongs to somebody else.
    pub fn of(self, owners: &[u32]) -> Result<Self, ForeignFileError> {
        let owner = self.owner();
        if owners.contains(&owner) {
            return Ok(self);
        }
        Err(ForeignFileError::OtherOwner { path: self.path, owner })
    }

    /// The user that it belongs to.
    #[must_use]
    pub fn owner(&self) -> u32 {
        self.metadata.uid()
    }

    /// Its size in bytes when it was opened.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.metadata.len()
    }

    /// What tells whether a path still leads to it, as it is now.
    #[must_use]
    pub fn identity(&self) -> FileIdentity {
        FileIdentity {
            device: self.metadata.dev(),
            inode: self.metadata.ino(),
            size: self.metadata.len(),
            changed: (self.metadata.mtime(), self.metadata.mtime_nsec()),
        }
    }

    /// Fills all of `bytes` from `offset` on.
    ///
    /// # Errors
    /// If that cannot be read, or the file has become shorter.
    pub fn read_at(&self, bytes: &mut [u8], offset: u64) -> Result<(), ForeignFileError> {
        self.file.read_exact_at(bytes, offset).map_err(|source| self.failed(source))
    }

    /// Reads the whole file, if it has at most `most` bytes. The bytes are not counted in any room, so
    /// `most` is small.
    ///
    /// # Errors
    /// If it is larger, or cannot be read.
    pub fn contents(&self, most: u64) -> Result<Vec<u8>, ForeignFileError> {
        let mut bytes = Vec::new();
        let mut reader = self.reader(most)?;
        reader.read_to_end(&mut bytes).map_err(|source| self.failed(source))?;
        Ok(bytes)
    }

    /// A reader of the whole file, if it has at most `most` bytes. It ends where the file ended when it was
    /// opened.
    ///
    /// # Errors
    /// If it is larger.
    pub fn reader(&self, most: u64) -> Result<impl Read + '_, ForeignFileError> {
        let size = self.size();
        if size > most {
            return Err(ForeignFileError::TooLarge { path: self.path.clone(), size });
        }
        Ok((&self.file).take(size))
    }

    /// The open file, for who knows how much of it to read.
    #[must_use]
    pub fn into_file(self) -> File {
        self.file
    }

    /// The path by which it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes room for `bytes` of it.
    ///
    /// # Errors
    /// If there is none.
    pub fn take(
        &self,
        room: &'static Room,
        bytes: u64,
    ) -> Result<crate::foreign_files::Taken, ForeignFileError> {
        let path = || self.path.clone();
        room.take(bytes).map_err(|source| ForeignFileError::NoRoom { path: path(), source })
    }

    fn failed(&self, source: io::Error) -> ForeignFileError {
        ForeignFileError::Read { path: self.path.clone(), source }
    }
}
