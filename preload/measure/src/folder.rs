//! The folder for recordings, opened and checked before anything is made in it.
//!
//! The folder's name may belong to somebody else by now, because a daemon may outlive Kilocore. So
//! the folder must belong to root or to the process's own user, nobody else may write in it, and
//! whatever is made is made relative to the descriptor that was checked.

use core::ffi::CStr;

use kilocore_lock_recording::PATH_BYTES;

use crate::environment::{self, NAME_BYTES};
use crate::lack::Lack;
use crate::{broker, confined, file};

/// The rights of a group and of others to write.
const OTHERS_WRITE: libc::mode_t = 0o022;

/// Tells one file from all others, as long as it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl FileId {
    pub(crate) fn of(status: &libc::stat) -> Self {
        Self { device: status.st_dev, inode: status.st_ino }
    }
}

/// Returns what the system says of an open file, also of one that is open as a path only.
pub(crate) fn status_of(descriptor: libc::c_int) -> Result<libc::stat, Lack> {
    status_at(descriptor, c"", libc::AT_EMPTY_PATH)
}

/// Returns what the system says of a path that begins in the folder `from`. Old C libraries do not
/// have a function of that name, so the system call is made directly. Its structure is that of the C
/// library on 64-bit machines.
fn status_at(from: libc::c_int, path: &CStr, flags: libc::c_int) -> Result<libc::stat, Lack> {
    // SAFETY: zeros are a valid value.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: the path is a C string, and `status` is a local variable.
    let failed =
        unsafe { libc::syscall(libc::SYS_newfstatat, from, path.as_ptr(), &raw mut status, flags) }
            != 0;
    if failed { Err(Lack::from_errno()) } else { Ok(status) }
}

/// The open folder.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: libc::c_int,
    owner: libc::uid_t,
    pub(crate) id: FileId,
}

impl Drop for Folder {
    fn drop(&mut self) {
        file::close(self.descriptor);
    }
}

impl Folder {
    /// Opens the folder. It is refused if another user owns it, or if others may write in it.
    pub(crate) fn open() -> Result<Self, Lack> {
        let path: [u8; PATH_BYTES] = environment::folder();
        let path = CStr::from_bytes_until_nul(&path).map_err(|_| Lack::Permission)?;
        let descriptor = file::open(libc::AT_FDCWD, path, libc::O_PATH | libc::O_DIRECTORY);
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
            Ok(name) if !name.is_empty() => file::open(self.descriptor, name, libc::O_WRONLY),
            _ => -1,
        }
    }

    /// Creates a file with this name, which nothing may have, and returns its descriptor, or a
    /// negative number.
    pub(crate) fn create(&self, name: &[u8; NAME_BYTES], flags: libc::c_int) -> libc::c_int {
        CStr::from_bytes_until_nul(name).map_or(-1, |name| {
            file::open(self.descriptor, name, flags | libc::O_CREAT | libc::O_EXCL)
        })
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
