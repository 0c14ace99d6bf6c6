//! The folder for recordings, opened and checked before anything is made in it.
//!
//! The folder's name may belong to somebody else by now, because a daemon may outlive Kilocore. So
//! the folder must belong to root or to the process's own user, nobody else may write in it, and
//! whatever is made is made relative to the descriptor that was checked.

use core::ffi::CStr;

use kilocore_lock_recording::PATH_BYTES;

use crate::descriptors::{FileId, close, open, status_at, status_of};
use crate::environment::{self, NAME_BYTES};
use crate::lack::Lack;
use crate::{broker, confined};

/// The rights of a group and of others to write.
const OTHERS_WRITE: libc::mode_t = 0o022;

/// The folder of recordings, which was opened and found safe.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: libc::c_int,
    owner: libc::uid_t,
    pub(crate) id: FileId,
}

impl Drop for Folder {
    fn drop(&mut self) {
        close(self.descriptor);
    }
}

impl Folder {
    /// Opens the folder. It is refused if another user owns it, or if others may write in it.
    pub(crate) fn open() -> Result<Self, Lack> {
        let path: [u8; PATH_BYTES] = environment::folder();
        let path = CStr::from_bytes_until_nul(&path).map_err(|_| Lack::Permission)?;
        let descriptor = open(libc::AT_FDCWD, path, libc::O_PATH | libc::O_DIRECTORY);
        if descriptor < 0 {
            return Err(Lack::from_errno());
        }
        let mut folder = Self { descriptor, owner: 0, id: FileId { device: 0, inode: 0 } };
        let status = status_of(descriptor)?;
        let is_trusted = status.st_uid == 0 || status.st_uid == own_user();
        if !is_trusted || status.st_mode & OTHERS_WRITE != 0 {
            return Err(Lack::Permission);
        }
        folder.owner = status.st_uid;
        folder.id = FileId::of(&status);
        Ok(folder)
    }

    /// Makes a file for a recording and returns its descriptor and its name. If the folder belongs to
    /// root and this process does not, root's [broker](crate::broker) makes it, and the name is
    /// empty.
    pub(crate) fn recording(&self) -> Result<(libc::c_int, [u8; NAME_BYTES]), Lack> {
        if !self.is_own() {
            return Ok((broker::ask(self.descriptor, self.owner)?, [0; NAME_BYTES]));
        }
        let name = environment::recording_name();
        match self.create(&name, libc::O_RDWR) {
            descriptor if descriptor >= 0 => Ok((descriptor, name)),
            _ => Err(Lack::from_errno()),
        }
    }

    /// Opens a recording that this process has made, and returns its descriptor, or a negative
    /// number.
    pub(crate) fn open_again(&self, name: &[u8; NAME_BYTES]) -> libc::c_int {
        match CStr::from_bytes_until_nul(name) {
            Ok(name) if !name.is_empty() => open(self.descriptor, name, libc::O_WRONLY),
            _ => -1,
        }
    }

    /// Creates a file with this name, which nothing may have, and returns its descriptor, or a
    /// negative number.
    pub(crate) fn create(&self, name: &[u8; NAME_BYTES], flags: libc::c_int) -> libc::c_int {
        CStr::from_bytes_until_nul(name)
            .map_or(-1, |name| open(self.descriptor, name, flags | libc::O_CREAT | libc::O_EXCL))
    }

    /// Whether the folder belongs to this process's user.
    pub(crate) fn is_own(&self) -> bool {
        self.owner == own_user()
    }
}

fn own_user() -> libc::uid_t {
    // SAFETY: the function has no arguments.
    unsafe { libc::geteuid() }
}

/// Whether the path of the folder still leads to this folder. If it does not, nobody will read what
/// is recorded.
pub(crate) fn is_still(id: FileId) -> bool {
    if confined::is_confined() {
        return false;
    }
    let path = environment::folder();
    CStr::from_bytes_until_nul(&path)
        .map_err(|_| Lack::Permission)
        .and_then(|path| status_at(libc::AT_FDCWD, path, libc::AT_SYMLINK_NOFOLLOW))
        .is_ok_and(|status| FileId::of(&status) == id)
}
