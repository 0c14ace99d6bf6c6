//! Processes that do not outlast who started them.

use std::io;

/// Asks the system to kill this process when the thread that started it ends, whatever ends that. Fails if `parent`, the
/// process of that thread, has ended before. For use between fork and exec: it is async-signal-safe.
///
/// # Errors
/// What the system says, or that there is no such process (`ESRCH`) if the parent has ended.
pub fn die_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: the call touches no memory of this process.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call touches no memory of this process.
    if unsafe { libc::getppid() } as u32 != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}
