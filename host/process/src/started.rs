//! Asking a program to end, and no other process that has its number by then.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

/// A program that was just started.
#[derive(Debug)]
pub struct Started {
    /// The process id, which another process may get once this one has been waited for.
    pub pid: u32,
    /// Names the process, even after its id has become another's. `None` on kernels before 5.3.
    handle: Option<File>,
}

impl Started {
    /// Returns the program with this process id, for which nobody has waited yet.
    #[must_use]
    pub fn new(pid: libc::pid_t) -> Self {
        // SAFETY: integers only.
        let handle = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
        // SAFETY: a descriptor that was just opened, and that nobody else knows.
        let handle = (handle >= 0).then(|| unsafe { File::from_raw_fd(handle) });
        Self { pid: pid as u32, handle }
    }

    /// Asks the program to end. Returns whether it could be asked.
    #[must_use]
    pub fn terminate(&self) -> bool {
        self.send(libc::SIGTERM)
    }

    /// Ends the program. Returns whether there still was one.
    #[must_use]
    pub fn kill(&self) -> bool {
        self.send(libc::SIGKILL)
    }

    fn send(&self, signal: libc::c_int) -> bool {
        let Some(handle) = &self.handle else {
            // SAFETY: integers only. The program was not known to have ended a moment ago.
            return unsafe { libc::kill(self.pid as libc::pid_t, signal) == 0 };
        };
        let nothing: *const libc::siginfo_t = core::ptr::null();
        // SAFETY: a descriptor of a process, and no further information.
        let result = unsafe {
            libc::syscall(libc::SYS_pidfd_send_signal, handle.as_raw_fd(), signal, nothing, 0)
        };
        result == 0
    }
}
