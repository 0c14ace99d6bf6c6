//! How a program's end is reported.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a shell reports a program's end: its exit status, or 128 plus the signal.
#[must_use]
pub fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(shell_status_of_signal)).unwrap_or(1)
}

/// How a shell reports that a signal ended a program.
#[must_use]
pub fn shell_status_of_signal(signal: i32) -> i32 {
    128 + signal
}

/// The status to end with after a program that was asked to end, or failed: the program's own, or, if it ended as if
/// all were well, that which shells give for Ctrl-C.
#[must_use]
pub fn status_of_bad_end(status: ExitStatus) -> i32 {
    const INTERRUPTED: i32 = 130;
    match shell_status(status) {
        0 => INTERRUPTED,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_death_by_signal_is_reported_as_a_shell_does() {
        assert_eq!(shell_status(ExitStatus::from_raw(9)), 137);
        assert_eq!(shell_status(ExitStatus::from_raw(3 << 8)), 3);
    }
}
