//! Opening a file of pages so that nobody else has it, and so that its name is as durable as its pages.
//!
//! # The idea
//! * **The lock is that of the open file** (`flock`): it goes if the program is killed, and it keeps two pools of
//!   one program apart as it does two programs. It is given back when the store is dropped, as closing the file is
//!   not enough: a process that was just forked has the file, too, until it becomes another program.
//! * **A file's name is in its directory**, which has to be synced, too: a file that was made, synced and never
//!   named on the disk is lost. That is done each time the file is opened for writing, since whoever made it may
//!   have been killed before.

use std::error::Error;
use std::fmt;
use std::fs::{File, OpenOptions, TryLockError, canonicalize};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use crate::file_store::FileStore;

/// Why a file cannot be a store.
#[derive(Debug)]
pub enum OpenFileError {
    /// It cannot be opened.
    Open(PathBuf, io::Error),
    /// Another program, or another part of this one, has it open, and one of the two would change it.
    InUse(PathBuf),
    /// It cannot be locked, for instance as its file system has no locks.
    Lock(PathBuf, io::Error),
    /// Its name cannot be made durable.
    Name(PathBuf, io::Error),
}

impl fmt::Display for OpenFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenFileError::Open(path, error) => write!(f, "{}: {error}", path.display()),
            OpenFileError::InUse(path) => {
                write!(f, "{}: another program has it open; wait until that ends", path.display())
            }
            OpenFileError::Lock(path, error) => {
                write!(f, "{}: it cannot be locked: {error}", path.display())
            }
            OpenFileError::Name(path, error) => {
                write!(f, "{}: its directory cannot be synced: {error}", path.display())
            }
        }
    }
}

impl Error for OpenFileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            OpenFileError::Open(_, error)
            | OpenFileError::Lock(_, error)
            | OpenFileError::Name(_, error) => Some(error),
            OpenFileError::InUse(_) => None,
        }
    }
}

impl FileStore {
    /// Opens a file with these options and locks it until the store is dropped: for itself, or, if it is only
    /// read, for all who only read it. A second pool on the file would not see what the first has in memory, and
    /// would overwrite what that writes. The lock holds off those who ask for it: this function and
    /// [`File::lock`].
    ///
    /// If the file is open for writing, the directory with its name is synced. Directories above that are the
    /// caller's matter if they are new. Truncating it is done before it is locked, so do not ask for that here.
    ///
    /// # Errors
    /// If the file cannot be opened, is in use or cannot be locked, or if its directory cannot be synced.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self, OpenFileError> {
        let path = path.as_ref();
        let file = options.open(path).map_err(|error| OpenFileError::Open(path.into(), error))?;
        let is_written =
            is_written(&file).map_err(|error| OpenFileError::Open(path.into(), error))?;
        let locked = if is_written { file.try_lock() } else { file.try_lock_shared() };
        locked.map_err(|error| match error {
            TryLockError::WouldBlock => OpenFileError::InUse(path.into()),
            TryLockError::Error(error) => OpenFileError::Lock(path.into(), error),
        })?;
        let mut store = Self::new(file);
        store.is_locked = true;
        if is_written {
            sync_name(path, store.file())
                .map_err(|error| OpenFileError::Name(path.into(), error))?;
        }
        Ok(store)
    }
}

impl Drop for FileStore {
    fn drop(&mut self) {
        if self.is_locked {
            // If this fails, the lock goes when the last process that has the file ends.
            let _ = self.file().unlock();
        }
    }
}

/// Returns whether a file is open for writing.
fn is_written(file: &File) -> io::Result<bool> {
    // SAFETY: this only asks for the flags of a file that is open.
    let flags = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFL) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(flags & libc::O_ACCMODE != libc::O_RDONLY)
}

/// Makes a file's name durable.
fn sync_name(path: &Path, file: &File) -> io::Result<()> {
    // The name that counts is the one that links lead to.
    let path = canonicalize(path)?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Whoever may not read the directory can still sync the whole file system.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            // SAFETY: this takes no memory, and the file is open.
            let result = unsafe { libc::syncfs(file.as_raw_fd()) };
            if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        }
        // Some file systems have nothing to sync for a directory, and say so.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
