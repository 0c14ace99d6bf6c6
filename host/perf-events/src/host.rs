//! What this host allows and has.

use std::fs;
use std::str::FromStr;

/// A setting of the kernel, if it can be read.
fn setting<T: FromStr>(name: &str) -> Option<T> {
    fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok()?.trim().parse().ok()
}

/// `kernel.perf_event_paranoid`, if it can be read.
#[must_use]
pub fn paranoid() -> Option<i32> {
    setting("perf_event_paranoid")
}

/// `kernel.perf_event_mlock_kb`, if it can be read: so many kilobytes a core may all of a user's
/// buffers take, besides those that `ulimit -l` allows.
#[must_use]
pub fn locked_kilobytes() -> Option<usize> {
    setting("perf_event_mlock_kb")
}

/// The cores that are on, if the kernel says.
#[must_use]
pub fn online_cores() -> Option<Vec<u32>> {
    parse_cores(&fs::read_to_string("/sys/devices/system/cpu/online").ok()?)
}

/// Parses a kernel's list of cores, such as `0-3,8,10-11`. Returns `None` for anything else, and
/// for an empty list.
fn parse_cores(text: &str) -> Option<Vec<u32>> {
    /// More than any kernel is built for.
    const MOST: u32 = 1 << 16;
    let mut cores = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        cores.extend(first..=last);
        if cores.len() > MOST as usize {
            return None;
        }
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_of_cores_are_understood() {
        let cores = parse_cores;
        assert_eq!(cores("0-2,8,10-11\n"), Some(vec![0, 1, 2, 8, 10, 11]));
        for nonsense in ["", "a", "3-1", "0-", "0-99999999"] {
            assert_eq!(cores(nonsense), None::<Vec<u32>>, "{nonsense}");
        }
        assert!(!online_cores().expect("the kernel says").is_empty());
    }

    proptest! {
        #[test]
        fn no_list_is_too_strange(text in "[0-9,-]{0,30}") {
            parse_cores(&text);
        }
    }
}
