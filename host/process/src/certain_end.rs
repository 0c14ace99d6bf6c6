//! Ending a program for certain once this process is told to end.

use std::io::{self, PipeReader};
use std::os::fd::{AsRawFd, RawFd};
use std::thread;
use std::time::Duration;

use crate::signals;

/// How long a program that was passed a signal may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// Waits for a program's end by `wait`, after which its process id is still its own. Once a signal was passed on, the
/// program is killed if it has not ended after a moment.
pub(crate) fn wait_or_kill<T>(pid: libc::pid_t, wait: impl FnOnce() -> T) -> T {
    // Without a pipe, nothing would end the thread that watches.
    let (Some(told), Ok((over, over_in))) = (signals::told(), io::pipe()) else { return wait() };
    thread::scope(|scope| {
        let watch = move || kill_in_time(pid, told, &over);
        // If there is no room for a thread, the program is waited for all the same.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        let ended = wait();
        drop(over_in);
        ended
    })
}

/// Kills the program if it is not over a moment after this process was told to end.
fn kill_in_time(pid: libc::pid_t, told: RawFd, over: &PipeReader) {
    let over = over.as_raw_fd();
    let is_over = |also: Option<RawFd>, limit| {
        let ready = wait_for([Some(over), also], limit);
        // Nobody writes to the pipe: it is ready when it is hung up.
        ready.is_none_or(|[over, _]| over)
    };
    if !is_over(Some(told), None) && !is_over(None, Some(GRACE)) {
        // SAFETY: integers only; nobody has waited for the program yet, so the id is its.
        unsafe { libc::kill(pid, libc::SIGKILL) };
    }
}

/// Waits until one of these can be read or is hung up, or the time is over, and says which. `None` if the system does
/// not let anybody wait.
fn wait_for(files: [Option<RawFd>; 2], limit: Option<Duration>) -> Option<[bool; 2]> {
    let limit = limit.map_or(-1, |limit| limit.as_millis() as libc::c_int);
    // The system passes over what is negative.
    let asked = |file: Option<RawFd>| libc::pollfd {
        fd: file.unwrap_or(-1),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut asked = files.map(asked);
    loop {
        // SAFETY: an array of so many structures, which is ours.
        if unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, limit) } >= 0 {
            return Some(asked.map(|file| file.revents != 0));
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}
