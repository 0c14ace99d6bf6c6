//! How a program's end is reported.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a shell reports a program's end: its exit status, or 128 plus the signal.
#[must_use]
pub fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
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
