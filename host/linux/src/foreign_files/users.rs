//! Whom a process or this one belongs to.

use std::fs;

/// The effective user of this process.
#[must_use]
pub fn own_user() -> u32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Returns the users that a process has the rights of: real, effective, saved, and the one whose files
/// it opens. There are none if it is gone. This is the line `Uid` of `/proc/PID/status`:
///
/// ```text
/// Uid:    1000    1000    1000    1000
/// ```
#[must_use]
pub fn users_of_process(pid: u32) -> Vec<u32> {
    let text = fs::read(format!("/proc/{pid}/status")).unwrap_or_default();
    parse(&String::from_utf8_lossy(&text))
}

fn parse(status: &str) -> Vec<u32> {
    // The name of the process comes first, and the kernel writes its line feeds as `\n`.
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let words = line.into_iter().flat_map(str::split_ascii_whitespace);
    words.filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_read() {
        assert_eq!(parse("Name:\tUid: 7\nState:\tS\nUid:\t1\t2\t3\t4\nGid:\t5\n"), [1, 2, 3, 4]);
        assert_eq!(parse("Name:\tx\n"), []);
        assert!(users_of_process(std::process::id()).contains(&own_user()));
        assert_eq!(users_of_process(u32::MAX), []);
    }
}
