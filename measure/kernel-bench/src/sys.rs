//! What several files need of the system.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::Refusal;

/// The result of a system call that is not negative, or why it failed.
#[inline]
pub(crate) fn check(call: &str, result: libc::c_int) -> Result<libc::c_int, Refusal> {
    if result < 0 { Err(Refusal::last(call)) } else { Ok(result) }
}

/// The number of the error that the system noted last for this thread.
pub(crate) fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Nanoseconds of the monotonic clock.
#[inline]
pub(crate) fn now_ns() -> u64 {
    clock_ns(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds that this thread has had a core.
pub(crate) fn thread_ns() -> u64 {
    clock_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is ours to be written; a clock that there is not writes nothing.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// An anonymous file in memory.
pub(crate) fn memory_file(bytes: u64) -> Result<File, Refusal> {
    // SAFETY: the name is a C string.
    let fd = check("memfd_create", unsafe {
        libc::memfd_create(c"kilocore-bench".as_ptr(), libc::MFD_CLOEXEC)
    })?;
    // SAFETY: a descriptor that was just made and belongs to nobody else.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(bytes).map_err(|error| Refusal::of("ftruncate of a memory file", &error))?;
    Ok(file)
}

/// Lets programs that are executed from here inherit a descriptor, or keeps it from them.
/// Async-signal-safe.
pub(crate) fn inherit(fd: RawFd, inherited: bool) -> io::Result<()> {
    let flags = if inherited { 0 } else { libc::FD_CLOEXEC };
    // SAFETY: touches no memory; a wrong descriptor is an error.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, flags) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// A path for system calls.
pub(crate) fn c_path(path: &Path) -> Result<CString, Refusal> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Refusal::System {
        call: "open".to_owned(),
        error: format!("{} has a zero byte in its name", path.display()),
    })
}

/// Memory that a file or nothing stands behind; unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: a mapping is plain memory of the process, not of a thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps a file so that writes to it are seen by all who map it.
    pub(crate) fn shared(file: &File, bytes: usize) -> Result<Self, Refusal> {
        Self::new(file.as_raw_fd(), bytes, libc::MAP_SHARED, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// Maps a file to be read.
    pub(crate) fn read_only(file: &File, bytes: usize) -> Result<Self, Refusal> {
        Self::new(file.as_raw_fd(), bytes, libc::MAP_SHARED, libc::PROT_READ)
    }

    /// Maps memory of the process's own.
    pub(crate) fn private(bytes: usize) -> Result<Self, Refusal> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        Self::new(-1, bytes, flags, libc::PROT_READ | libc::PROT_WRITE)
    }

    fn new(fd: RawFd, bytes: usize, flags: i32, protection: i32) -> Result<Self, Refusal> {
        // SAFETY: the kernel chooses where, so that no other memory is touched.
        let start = unsafe { libc::mmap(core::ptr::null_mut(), bytes, protection, flags, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(Refusal::last("mmap"));
        }
        Ok(Self { start: start.cast(), bytes })
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; whoever has a pointer into it borrows the mapping.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}
