//! The memory that is shared with the reader.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use kilocore_references::layout::Shared;

static SHARED: OnceLock<Shared<'static>> = OnceLock::new();

/// Nothing is recorded any more: the reader is gone, or the program has said all, or this process is a
/// child that the program forked.
static OVER: AtomicBool = AtomicBool::new(false);

/// Maps the memory. The file is closed again, so that the program's files have the numbers that they
/// would have without QEMU.
pub(crate) fn open(file: &str) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(file)?;
    let bytes = file.metadata()?.len() as usize;
    // SAFETY: a new mapping of a file.
    let base = unsafe {
        libc::mmap(
            core::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is there until the process ends, has as many bytes, and begins with a page.
    let shared = unsafe { Shared::open(base.cast(), bytes) }.map_err(io::Error::other)?;
    shared.header().program.store(std::process::id(), Ordering::Release);
    SHARED.set(shared).map_err(|_| io::Error::other("the plugin is loaded twice"))
}

/// The memory, if the plugin is installed and there is still something to record.
pub(crate) fn shared() -> Option<&'static Shared<'static>> {
    if is_over() { None } else { SHARED.get() }
}

/// Ends the recording in this process.
pub(crate) fn end() {
    OVER.store(true, Ordering::Relaxed);
}

pub(crate) fn is_over() -> bool {
    OVER.load(Ordering::Relaxed)
}
