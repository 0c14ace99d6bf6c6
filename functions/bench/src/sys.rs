//! System calls that several files use.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use kilocore_figures::Nanoseconds;

use crate::Refusal;

/// Returns the result of a system call, or the refusal for `errno` if the result is negative.
#[inline]
pub(crate) fn check(call: &str, result: libc::c_int) -> Result<libc::c_int, Refusal> {
    if result < 0 { Err(Refusal::last(call)) } else { Ok(result) }
}

/// Returns `errno` of this thread.
pub(crate) fn last_error() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Returns the time of the monotonic clock.
#[inline]
pub(crate) fn now() -> Nanoseconds {
    time_of(libc::CLOCK_MONOTONIC)
}

/// Returns how long this thread has run on a core.
pub(crate) fn thread_time() -> Nanoseconds {
    time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

#[inline]
fn time_of(clock: libc::clockid_t) -> Nanoseconds {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the kernel to write to. For an unknown clock it writes nothing.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Nanoseconds(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Makes an anonymous file in memory, of `bytes` zeros.
pub(crate) fn memory_file(bytes: u64) -> Result<File, Refusal> {
    // SAFETY: the name is a C string, and the call keeps no pointer to it.
    let fd = check("memfd_create", unsafe {
        libc::memfd_create(c"kilocore-bench".as_ptr(), libc::MFD_CLOEXEC)
    })?;
    // SAFETY: the descriptor was just made and belongs to nobody else.
    let file = unsafe { File::from_raw_fd(fd) };
    file.set_len(bytes).map_err(|error| Refusal::of("ftruncate of a memory file", &error))?;
    Ok(file)
}

/// Sets whether programs that this process executes inherit the descriptor. This function is
/// async-signal-safe.
pub(crate) fn inherit(fd: RawFd, inherited: bool) -> io::Result<()> {
    let flags = if inherited { 0 } else { libc::FD_CLOEXEC };
    // SAFETY: the call touches no memory, and a wrong descriptor is an error.
    if unsafe { libc::fcntl(fd, libc::F_SETFD, flags) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns a path as a C string, for system calls.
pub(crate) fn c_path(path: &Path) -> Result<CString, Refusal> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Refusal::System {
        call: "open".to_owned(),
        error: format!("{} has a zero byte in its name", path.display()),
    })
}

/// Mapped memory, of a file or anonymous. It is unmapped when dropped.
#[derive(Debug)]
pub(crate) struct Mapping {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: a mapping belongs to the process and not to a thread, so any thread may use and unmap it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps a file for reading and writing. All who map the file see what is written.
    pub(crate) fn shared(file: &File, bytes: usize) -> Result<Self, Refusal> {
        Self::new(file.as_raw_fd(), bytes, libc::MAP_SHARED, libc::PROT_READ | libc::PROT_WRITE)
    }

    /// Maps a file for reading.
    pub(crate) fn read_only(file: &File, bytes: usize) -> Result<Self, Refusal> {
        Self::new(file.as_raw_fd(), bytes, libc::MAP_SHARED, libc::PROT_READ)
    }

    /// Maps anonymous memory, which belongs to this process alone.
    pub(crate) fn private(bytes: usize) -> Result<Self, Refusal> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        Self::new(-1, bytes, flags, libc::PROT_READ | libc::PROT_WRITE)
    }

    fn new(fd: RawFd, bytes: usize, flags: i32, protection: i32) -> Result<Self, Refusal> {
        // SAFETY: the kernel chooses the address, so no memory in use is replaced.
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
        // SAFETY: this is exactly what `new` mapped. Whoever has a pointer into it borrows the
        // mapping, so no such pointer is in use any more.
        unsafe { libc::munmap(self.start.cast(), self.bytes) };
    }
}
