//! Opening and closing files, and what the system says of them.

use core::ffi::CStr;

use crate::confined;
use crate::lack::Lack;

/// Opens `path`, which begins in the folder `from`, without the C library's wrapper, which is a
/// cancellation point.
pub(crate) fn open(from: libc::c_int, path: &CStr, flags: libc::c_int) -> libc::c_int {
    if confined::is_confined() {
        return -1;
    }
    // SAFETY: the arguments are a C string and integers, which the kernel checks.
    unsafe {
        libc::syscall(
            libc::SYS_openat,
            from,
            path.as_ptr(),
            flags | libc::O_CLOEXEC | libc::O_NOFOLLOW,
            0o600,
        ) as libc::c_int
    }
}

/// Opens a program's file for reading, as the system does that executes it: a link is followed. A FIFO makes
/// nobody wait.
pub(crate) fn open_program(path: &CStr) -> libc::c_int {
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: the arguments are a C string and integers, which the kernel checks.
    unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags) as libc::c_int }
}

/// Closes a descriptor that this library has opened.
pub(crate) fn close(descriptor: libc::c_int) {
    // SAFETY: the descriptor was opened by this library and is not used afterwards.
    unsafe { libc::syscall(libc::SYS_close, descriptor) };
}

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
pub(crate) fn status_at(
    from: libc::c_int,
    path: &CStr,
    flags: libc::c_int,
) -> Result<libc::stat, Lack> {
    // SAFETY: zeros are a valid value.
    let mut status: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: the path is a C string, and `status` is a local variable.
    let failed =
        unsafe { libc::syscall(libc::SYS_newfstatat, from, path.as_ptr(), &raw mut status, flags) }
            != 0;
    if failed { Err(Lack::from_errno()) } else { Ok(status) }
}
