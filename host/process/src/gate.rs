//! Holding a process between fork and exec.
//!
//! The standard library starts a program in one call, which returns when the program has been
//! executed or could not be. So the new process stops at a gate of two pipes. It reports its id and
//! waits for a byte that lets it pass. A second thread sends that byte while the first is inside
//! the call. The last thing that the process does before it executes the program is to report the
//! time.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread;

use crate::direct;

/// The byte that lets the process pass. Every other byte, and the end of the pipe, forbids it.
const GO: u8 = b'g';

/// Is called with the id of the process that is about to execute the program, on a thread of its
/// own. The program is not executed before this returns. If this breaks, it is not executed at all.
pub type BeforeExec<'a> = Box<dyn FnOnce(libc::pid_t) -> ControlFlow<()> + Send + 'a>;

/// Why a program was not started.
#[derive(Debug)]
pub enum NotStarted {
    /// The system refused to start it, for this reason.
    Refused(io::Error),
    /// [`Start::before_exec`](crate::Start::before_exec) held it back.
    HeldBack,
}

impl From<io::Error> for NotStarted {
    fn from(error: io::Error) -> Self {
        Self::Refused(error)
    }
}

impl From<NotStarted> for io::Error {
    fn from(reason: NotStarted) -> Self {
        match reason {
            NotStarted::Refused(error) => error,
            NotStarted::HeldBack => Self::other("it was held back"),
        }
    }
}

/// The new process's side. It holds numbers only, because that process may not allocate or free
/// anything.
#[derive(Clone, Copy)]
struct Inside {
    report: RawFd,
    go: RawFd,
    go_in: RawFd,
    held: bool,
}

impl Inside {
    /// Reports the id of this process, if it is held, and waits until it may execute the program.
    fn pass(self) -> io::Result<()> {
        if self.held {
            // SAFETY: this process's copy, which nobody uses: when the parent dies, the pipe ends.
            unsafe { libc::close(self.go_in) };
            // SAFETY: takes no argument.
            let pid = unsafe { libc::getpid() };
            self.tell(&pid.to_ne_bytes())?;
            if self.leave()? != Some(GO) {
                return Err(io::Error::from_raw_os_error(libc::ECANCELED));
            }
        }
        self.tell(&monotonic_ns().to_ne_bytes())
    }

    /// Writes a few bytes. A pipe takes so few at once or not at all.
    fn tell(self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: the bytes are readable; the descriptor is open until exec.
        let written = unsafe { libc::write(self.report, bytes.as_ptr().cast(), bytes.len()) };
        if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    fn leave(self) -> io::Result<Option<u8>> {
        let mut byte = 0u8;
        loop {
            // SAFETY: one writable byte; the descriptor is open until exec.
            match unsafe { libc::read(self.go, (&raw mut byte).cast(), 1) } {
                0 => return Ok(None),
                1 => return Ok(Some(byte)),
                _ => {
                    let error = io::Error::last_os_error();
                    if error.kind() != io::ErrorKind::Interrupted {
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds. It may be asked between fork and exec.
pub(crate) fn monotonic_ns() -> u64 {
    kilocore_linux::monotonic().as_nanos() as u64
}

/// Starts the program. Returns the moment before its execution, in nanoseconds of
/// `CLOCK_MONOTONIC`.
pub(crate) fn spawn(
    command: &mut Command,
    before_exec: Option<BeforeExec<'_>>,
) -> Result<(Child, u64), NotStarted> {
    let (mut report, report_in) = io::pipe()?;
    let (go, go_in) = io::pipe()?;
    let inside = Inside {
        report: report_in.as_raw_fd(),
        go: go.as_raw_fd(),
        go_in: go_in.as_raw_fd(),
        held: before_exec.is_some(),
    };
    // SAFETY: between fork and exec, calls only what is async-signal-safe and allocates nothing.
    // The descriptors are open: they are closed below, after the fork.
    unsafe { command.pre_exec(move || inside.pass()) };
    direct::ask_the_kernel_first(command);
    let (child, allowed) = thread::scope(|scope| {
        let reports = &mut report;
        let keeper = before_exec.map(|hook| scope.spawn(move || keep(reports, go_in, hook)));
        let child = command.spawn();
        // The keeper of a process that never came to the gate sees the reports' end.
        drop(report_in);
        let allowed = keeper.is_none_or(|keeper| match keeper.join() {
            Ok(allowed) => allowed,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (child, allowed)
    });
    if !allowed {
        // One that was killed at the gate is a child all the same.
        if let Ok(mut child) = child {
            child.wait()?;
        }
        return Err(NotStarted::HeldBack);
    }
    let mut child = child?;
    let mut began = [0; 8];
    if report.read_exact(&mut began).is_err() {
        // Killed at the gate, which the standard library takes for having been executed.
        child.wait()?;
        return Err(io::Error::other("its process was killed before it could begin").into());
    }
    Ok((child, u64::from_ne_bytes(began)))
}

/// Lets the process pass, or not. If the process never came to the gate, this reports no refusal:
/// the system says why it did not come.
fn keep(report: &mut PipeReader, mut go: PipeWriter, hook: BeforeExec<'_>) -> bool {
    let mut pid = [0; 4];
    if report.read_exact(&mut pid).is_err() {
        return true;
    }
    match hook(libc::pid_t::from_ne_bytes(pid)) {
        // A process that has died at the gate says so elsewhere.
        ControlFlow::Continue(()) => {
            let _ = go.write_all(&[GO]);
            true
        }
        ControlFlow::Break(()) => false,
    }
}
