//! Passing on what children of the program write after its end.
//!
//! Without an observer, such a child writes straight to where the program's output went, for as
//! long as it likes. With an observer it writes to a pipe. If the pipe ended with this process, the
//! child would lose its output and die. So a small process stays behind, and passes the output on
//! until the last child has ended. A reader that waits for the end of the output, as after a
//! shell's `|`, waits for that, as it would have without an observer.

use std::io::PipeReader;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// A pipe and where it goes, as numbers.
#[derive(Clone, Copy)]
struct Pour {
    from: RawFd,
    to: RawFd,
}

/// Leaves a process behind that empties these pipes. If there are no pipes, it leaves none.
pub(crate) fn leave(open: &[(PipeReader, Option<OwnedFd>)]) {
    let mut pours = [Pour { from: -1, to: -1 }; 2];
    for (pour, (pipe, outlet)) in pours.iter_mut().zip(open) {
        *pour = Pour { from: pipe.as_raw_fd(), to: outlet.as_ref().map_or(-1, AsRawFd::as_raw_fd) };
    }
    if open.is_empty() {
        return;
    }
    // SAFETY: both branches of the child call nothing but async-signal-safe functions, allocate
    // nothing, and leave by _exit.
    let child = unsafe { libc::fork() };
    match child {
        // Whoever has no room for a process cannot keep the promise.
        -1 => {}
        0 => {
            // A second fork, so that the process is the system's to wait for.
            // SAFETY: as above.
            if unsafe { libc::fork() } == 0 {
                stay(pours);
            }
            // SAFETY: ends this process without running what belongs to its parent.
            unsafe { libc::_exit(0) }
        }
        child => {
            // SAFETY: waits for the child just made, which ends at once.
            while unsafe { libc::waitpid(child, core::ptr::null_mut(), 0) } < 0
                && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
            {
            }
        }
    }
}

/// What the process that stays does. It allocates nothing, because another thread of its parent may
/// have held the heap's lock during the fork.
fn stay(mut pours: [Pour; 2]) -> ! {
    ignore_signals();
    close_others(pours);
    let mut piece = [0u8; 4096];
    while pours.iter().any(|pour| pour.from >= 0) {
        let mut entries =
            pours.map(|pour| libc::pollfd { fd: pour.from, events: libc::POLLIN, revents: 0 });
        // SAFETY: two entries, ours to be written; negative descriptors are passed over.
        unsafe { libc::poll(entries.as_mut_ptr(), 2, -1) };
        for (pour, entry) in pours.iter_mut().zip(entries) {
            if entry.revents != 0 && !pass_on(*pour, &mut piece) {
                // SAFETY: the children's next write fails, as if written there directly.
                unsafe { libc::close(pour.from) };
                pour.from = -1;
            }
        }
    }
    // SAFETY: as in `leave`.
    unsafe { libc::_exit(0) }
}

/// Passes a piece on. Returns whether there may be another.
fn pass_on(pour: Pour, piece: &mut [u8]) -> bool {
    // SAFETY: the piece is writable and of the length given.
    let taken = unsafe { libc::read(pour.from, piece.as_mut_ptr().cast(), piece.len()) };
    if taken <= 0 {
        return taken < 0 && transient();
    }
    let mut rest = &piece[..taken as usize];
    while pour.to >= 0 && !rest.is_empty() {
        // SAFETY: the rest is readable.
        let written = unsafe { libc::write(pour.to, rest.as_ptr().cast(), rest.len()) };
        if written > 0 {
            rest = &rest[written as usize..];
        } else if transient() {
            let mut entry = libc::pollfd { fd: pour.to, events: libc::POLLOUT, revents: 0 };
            // SAFETY: one entry, ours to be written.
            unsafe { libc::poll(&raw mut entry, 1, -1) };
        } else {
            return false;
        }
    }
    true
}

/// Whether the last system call may succeed if tried again.
fn transient() -> bool {
    // SAFETY: the thread's own errno.
    matches!(unsafe { *libc::__errno_location() }, libc::EINTR | libc::EAGAIN)
}

/// Ignores the signals that a terminal sends, or that come at a session's end. They are for the
/// children; when these have ended, this process ends as well.
fn ignore_signals() {
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGPIPE] {
        // SAFETY: no handler is involved.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Closes every descriptor but those of `pours`. Other processes may wait until the rest are
/// closed.
fn close_others(pours: [Pour; 2]) {
    let mut kept = [pours[0].from, pours[0].to, pours[1].from, pours[1].to];
    kept.sort_unstable();
    let mut first = 0;
    for fd in kept {
        if fd > first {
            close_range(first as u32, fd as u32 - 1);
        }
        first = first.max(fd + 1);
    }
    close_range(first as u32, u32::MAX);
}

fn close_range(first: u32, last: u32) {
    // SAFETY: this process uses none of them. Kernels before 5.9 do not know the call: the
    // descriptors then stay open until this process ends.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
}
