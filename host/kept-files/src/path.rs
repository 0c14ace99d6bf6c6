//! The way to a folder.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstat, mkdirat, openat};
use rustix::io::Errno;

/// The folder in which programs of this user keep files that they can do without. `None` if the environment
/// names none.
pub(crate) fn of_user() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))
}

/// The user on whose behalf this process runs.
pub(crate) fn user() -> u32 {
    // SAFETY: it has no conditions.
    unsafe { libc::geteuid() }
}

fn refused(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

/// Opens a folder. Each one on the way belongs to root or to this user and is no link. Those that are not there
/// are made, for this user alone.
pub(crate) fn open(path: &Path) -> io::Result<OwnedFd> {
    if !path.is_absolute() {
        return Err(refused("the path is not absolute"));
    }
    let mut at = rustix::fs::open("/", FOLDER, Mode::empty())?;
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => at = step(&at, name)?,
            _ => return Err(refused("the path has `..` in it")),
        }
    }
    Ok(at)
}

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// To pass through a folder takes no right to list it.
const PASSED: OFlags =
    OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn step(at: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let next = match openat(at, name, PASSED, Mode::empty()) {
        Err(Errno::NOENT) => {
            make(at, name)?;
            openat(at, name, PASSED, Mode::empty())?
        }
        result => result?,
    };
    let owner = fstat(&next)?.st_uid;
    if owner != 0 && owner != user() {
        return Err(refused("a folder on the way belongs to another user"));
    }
    Ok(next)
}

fn make(at: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match mkdirat(at, name, Mode::from_raw_mode(0o700)) {
        // Another process was first.
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Opens a folder in another one, which belongs to this user and to which nobody else can write; makes it if it
/// is not there.
pub(crate) fn open_own(at: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let own = match openat(at, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => {
            make(at, name)?;
            openat(at, name, FOLDER, Mode::empty())?
        }
        result => result?,
    };
    let found = fstat(&own)?;
    if found.st_uid != user() || found.st_mode & 0o022 != 0 {
        return Err(refused("the folder belongs to another user, or others may write to it"));
    }
    Ok(own)
}
