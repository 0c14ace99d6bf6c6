//! The program's output, if it goes into a pipe.
//!
//! How fast somebody reads it there is no concern of the machine. So where a program would notice that the pipe is full, it
//! waits here before, and no simulated time passes: it finds the same room each time.

use std::os::fd::RawFd;
use std::ptr;

use libc::c_int;

use crate::descriptors::Of;
use crate::{internal, signals, watchdog};

/// How long it waits at a time for room, in ms: somebody may have ended the program meanwhile.
const AT_A_TIME: c_int = 100;
/// How long it naps until it looks again whether all has been read, at first and at most, in ns. Nobody is told of that.
const FIRST_NAP: i64 = 50_000;
const LONGEST_NAP: i64 = 2_000_000;

fn is_output_pipe(descriptor: RawFd) -> bool {
    Of::the(descriptor) == Of::Output && internal::is_pipe(descriptor)
}

/// Waits until so many bytes find the same room as they always do: all that they need, or all of an empty pipe.
pub(crate) fn wait_for_room(descriptor: RawFd, bytes: u64) {
    if !is_output_pipe(descriptor) {
        return;
    }
    // What is known to go as a whole is only this.
    if bytes <= libc::PIPE_BUF as u64 {
        wait(|| looks(descriptor, libc::POLLOUT, AT_A_TIME * 1_000_000));
    } else {
        let mut nap = FIRST_NAP;
        wait(|| {
            let is_over = unread(descriptor).is_none_or(|bytes| bytes == 0)
                || looks(descriptor, 0, nap as c_int);
            nap = (nap * 2).min(LONGEST_NAP);
            is_over
        });
    }
}

/// Waits until there is room for something in each of these that is asked whether there is. Whether any is.
pub(crate) fn wait_for_asked(asked: &[(RawFd, i16)]) -> bool {
    let mut is_any = false;
    for &(descriptor, events) in asked {
        if events & libc::POLLOUT != 0 && is_output_pipe(descriptor) {
            wait_for_room(descriptor, 1);
            is_any = true;
        }
    }
    is_any
}

/// Waits until something `is_over`, which takes a moment to say so, or a signal comes.
fn wait(mut is_over: impl FnMut() -> bool) {
    watchdog::in_call(true);
    while !is_over() && !signals::is_pending() {}
    watchdog::in_call(false);
}

/// Whether a descriptor has one of these events within so many ns, or nobody reads there any more.
fn looks(descriptor: RawFd, events: i16, ns: c_int) -> bool {
    let mut one = libc::pollfd { fd: descriptor, events, revents: 0 };
    let time = libc::timespec { tv_sec: 0, tv_nsec: ns.into() };
    // SAFETY: a description and a time that live meanwhile.
    unsafe { libc::ppoll(&raw mut one, 1, &raw const time, ptr::null()) > 0 }
}

/// How many bytes in a pipe or a socket nobody has read.
pub(crate) fn unread(descriptor: RawFd) -> Option<u64> {
    let mut bytes: c_int = 0;
    // SAFETY: a number that lives meanwhile.
    let answer = unsafe { libc::ioctl(descriptor, libc::FIONREAD, &raw mut bytes) };
    if answer == 0 { u64::try_from(bytes).ok() } else { None }
}
