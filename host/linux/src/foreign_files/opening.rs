//! Opening a file without doing anything to it before it is known to be one.
//!
//! To open a pipe waits for its other end, to open a device may start it (a watchdog ends the system),
//! and a link may lead anywhere. So a path is first followed with `O_PATH`, which opens nothing. What it
//! led to is looked at, and only a regular file is opened, by the descriptor's own entry in `/proc`:
//! nobody can put another file in its place meanwhile.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::foreign_files::file_systems::is_made_up;

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastLink {
    Followed,
    Refused,
}

/// Follows a path. A path below `/proc/PID/root` is followed as that process would: its links lead to
/// nothing outside of that root.
pub(crate) fn follow(path: &Path, last: LastLink) -> io::Result<OwnedFd> {
    let flags = libc::O_PATH
        | libc::O_CLOEXEC
        | if last == LastLink::Refused { libc::O_NOFOLLOW } else { 0 };
    let Some((root, rest)) = rooted(path) else { return plain(path, flags) };
    let root_directory = plain(&root, libc::O_PATH | libc::O_CLOEXEC | libc::O_DIRECTORY)?;
    match within(&root_directory, &rest, flags) {
        // Linux before 5.6 has no such call, and some containers forbid it.
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
            plain(path, flags)
        }
        result => result,
    }
}

/// The root of a process in a path such as `/proc/4711/root/usr/lib/libx.so`, and what follows it.
pub(crate) fn rooted(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut parts = path.components();
    let mut next = || match parts.next()? {
        Component::Normal(name) => name.to_str(),
        Component::RootDir => Some("/"),
        _ => None,
    };
    let (root, proc, pid, last) = (next()?, next()?, next()?, next()?);
    let is_root = root == "/" && proc == "proc" && pid.parse::<u32>().is_ok() && last == "root";
    let rest = is_root.then(|| parts.as_path().to_owned())?;
    (rest.components().next().is_some()).then(|| (format!("/proc/{pid}/root").into(), rest))
}

/// A path that a file names, for whoever opened that file: a file below `/proc/PID/root` speaks of paths
/// below that root.
#[must_use]
pub fn seen_from(file: &Path, named: &Path) -> PathBuf {
    match (rooted(file), named.strip_prefix("/")) {
        (Some((root, _)), Ok(named)) => root.join(named),
        _ => named.to_owned(),
    }
}

fn plain(path: &Path, flags: libc::c_int) -> io::Result<OwnedFd> {
    let name = c_path(path)?;
    // SAFETY: the name ends with a zero and lives until the call returns.
    descriptor(unsafe { libc::open(name.as_ptr(), flags) }.into())
}

fn within(root: &OwnedFd, path: &Path, flags: libc::c_int) -> io::Result<OwnedFd> {
    let name = c_path(path)?;
    // SAFETY: all zeros are valid for these numbers.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = u64::from(flags.cast_unsigned());
    how.resolve = libc::RESOLVE_IN_ROOT;
    // SAFETY: the name ends with a zero, `how` has the size that is given, and both live until the call
    // returns; the descriptor is open, as it is owned.
    descriptor(unsafe {
        libc::syscall(
            libc::SYS_openat2,
            root.as_raw_fd(),
            name.as_ptr(),
            &raw const how,
            std::mem::size_of_val(&how),
        )
    })
}

/// Opens what a path led to, which is a regular file.
pub(crate) fn open(found: &OwnedFd) -> io::Result<File> {
    let name = CString::new(format!("/proc/self/fd/{}", found.as_raw_fd()))?;
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the name ends with a zero and lives until the call returns.
    descriptor(unsafe { libc::open(name.as_ptr(), flags) }.into()).map(File::from)
}

/// Whether the kernel makes up what is read of a file.
pub(crate) fn is_of_the_kernel(found: &OwnedFd) -> io::Result<bool> {
    // SAFETY: all zeros are valid for these numbers.
    let mut system: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the descriptor is open, as it is owned, and `system` is ours to be written.
    let result = unsafe { libc::fstatfs(found.as_raw_fd(), &raw mut system) };
    #[allow(clippy::unnecessary_cast, reason = "its width differs between C libraries")]
    if result == 0 { Ok(is_made_up(system.f_type as i64)) } else { Err(io::Error::last_os_error()) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

fn descriptor(fd: libc::c_long) -> io::Result<OwnedFd> {
    match libc::c_int::try_from(fd) {
        // SAFETY: the kernel has just made the descriptor, so nobody else owns it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_of_a_process_is_recognised() {
        let of = |path: &str| rooted(Path::new(path));
        let (root, rest) = of("/proc/47/root/usr/lib/x.so").expect("it is one");
        assert_eq!((root, rest), ("/proc/47/root".into(), "usr/lib/x.so".into()));
        for path in ["/proc/47/root", "/proc/self/root/x", "/proc/47/exe", "proc/47/root/x", "/x"] {
            assert_eq!(of(path), None, "{path}");
        }
        let seen = |file: &str| seen_from(Path::new(file), Path::new("/src/x.dwo"));
        assert_eq!(seen("/proc/47/root/usr/lib/x.so"), Path::new("/proc/47/root/src/x.dwo"));
        assert_eq!(seen("/usr/lib/x.so"), Path::new("/src/x.dwo"));
    }
}
