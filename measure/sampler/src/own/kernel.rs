//! The sampler's interface to the kernel, which tests replace to play other kernels.

use std::fs;
use std::io;
use std::str::FromStr;

use kilocore_perf_events::Event;
use kilocore_process::CpuId;
use perf_event_open_sys::bindings::perf_event_attr;

/// A kernel.
pub(crate) trait Kernel {
    /// Opens an event for a process on a core.
    fn open(
        &self,
        attribute: &mut perf_event_attr,
        pid: libc::pid_t,
        core: CpuId,
    ) -> io::Result<Event>;

    /// `kernel.perf_event_paranoid`.
    fn paranoid(&self) -> Option<i32>;

    /// `kernel.perf_event_max_sample_rate`, above which frequencies are refused.
    fn highest_frequency(&self) -> Option<u32>;

    /// The cores that are on.
    fn online(&self) -> Vec<CpuId>;
}

/// The kernel that runs here.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host;

impl Kernel for Host {
    fn open(
        &self,
        attribute: &mut perf_event_attr,
        pid: libc::pid_t,
        core: CpuId,
    ) -> io::Result<Event> {
        Event::open(attribute, pid, core.0 as libc::c_int)
    }

    fn paranoid(&self) -> Option<i32> {
        number("/proc/sys/kernel/perf_event_paranoid")
    }

    fn highest_frequency(&self) -> Option<u32> {
        number("/proc/sys/kernel/perf_event_max_sample_rate")
    }

    fn online(&self) -> Vec<CpuId> {
        let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        parse_cores(&text).unwrap_or_else(kilocore_process::allowed_cores)
    }
}

fn number<T: FromStr>(file: &str) -> Option<T> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Parses a kernel's list of cores, such as `0-3,8,10-11`. Returns `None` for anything else, and
/// for an empty list.
fn parse_cores(text: &str) -> Option<Vec<CpuId>> {
    /// More than any kernel is built for.
    const MOST: u32 = 1 << 16;
    let mut cores = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= MOST {
            return None;
        }
        cores.extend((first..=last).map(CpuId));
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
        let cores =
            |list: &str| parse_cores(list).map(|cores| cores.into_iter().map(|c| c.0).collect());
        assert_eq!(cores("0-2,8,10-11\n"), Some(vec![0, 1, 2, 8, 10, 11]));
        for nonsense in ["", "a", "3-1", "0-", "0-99999999"] {
            assert_eq!(cores(nonsense), None::<Vec<u32>>, "{nonsense}");
        }
        assert!(!Host.online().is_empty());
    }

    proptest! {
        #[test]
        fn no_list_is_too_strange(text in "[0-9,-]{0,30}") {
            parse_cores(&text);
        }
    }
}
