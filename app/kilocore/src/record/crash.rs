//! Saying that a program was killed: its profile then tells of a part of what it would have done.

use kilocore_command_line::say;
use std::os::unix::process::ExitStatusExt;

use kilocore_lock_recorder::Measured;

/// Tells on standard error if a signal ended the first run.
pub(crate) fn tell(measured: &Measured) {
    if measured.time_was_up {
        say("the time was up, and the program was asked to end");
    } else if let Some(signal) = measured.status.signal() {
        let core = if measured.status.core_dumped() { ", and left a core dump" } else { "" };
        say(&format!(
            "the program was ended by {}{core}; what follows is about its run until then",
            name(signal)
        ));
    }
}

/// What a signal is called.
fn name(signal: i32) -> String {
    const NAMES: [(i32, &str); 12] = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL (an illegal instruction)"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT (it gave up by itself)"),
        (libc::SIGBUS, "SIGBUS (a bad address)"),
        (libc::SIGFPE, "SIGFPE (a bad calculation)"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGSEGV, "SIGSEGV (a bad address)"),
        (libc::SIGPIPE, "SIGPIPE (nobody reads its output)"),
        (libc::SIGTERM, "SIGTERM"),
    ];
    NAMES
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(|| format!("signal {signal}"), |(_, name)| (*name).to_owned())
}
