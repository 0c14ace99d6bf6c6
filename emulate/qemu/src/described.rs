//! The simulated machine as Linux would describe it in files: its processors, which are
//! near one another, and its memory.

use std::fmt::Write as _;

use kilocore_machine::Location;

use kilocore_sim::Guests;

use crate::{guest, machine};

/// How much memory the machine has, in bytes, all of it free. Machine files do not say, and a host may have less, so this
/// is no more than most have.
pub(crate) const MEMORY: u64 = 16 << 30;

const CPUS: &str = "/sys/devices/system/cpu/";
const NODES: &str = "/sys/devices/system/node/";

/// What such a file says, if the path is that of one.
pub(crate) fn content(path: &str) -> Option<String> {
    if let Some(path) = path.strip_prefix(CPUS) {
        return of_processors(path);
    }
    if let Some(path) = path.strip_prefix(NODES) {
        return of_nodes(path);
    }
    let of = |head: &str, each: &dyn Fn(&mut String, u32)| {
        let mut text = head.to_owned();
        (0..machine::cores()).for_each(|core| each(&mut text, core));
        text
    };
    match path {
        "/proc/cpuinfo" => Some(of("", &|text, core| {
            let _ = write!(text, "processor\t: {core}\nmodel name\t: simulated\n\n");
        })),
        "/proc/stat" => Some(of("cpu  0 0 0 0 0 0 0 0 0 0\n", &|text, core| {
            let _ = writeln!(text, "cpu{core} 0 0 0 0 0 0 0 0 0 0");
        })),
        "/proc/meminfo" => Some(format!(
            "MemTotal:       {all} kB\nMemFree:        {all} kB\nMemAvailable:   {all} kB\n",
            all = MEMORY >> 10
        )),
        "/proc/self/status" => {
            let kib = guest::machine().map_or(0, Guests::resident_bytes) >> 10;
            Some(format!(
                "VmPeak:\t{kib} kB\nVmSize:\t{kib} kB\nVmHWM:\t{kib} kB\nVmRSS:\t{kib} kB\n"
            ))
        }
        _ => None,
    }
}

/// Those below the folder of processors.
fn of_processors(path: &str) -> Option<String> {
    let locations = machine::locations();
    if matches!(path, "online" | "possible" | "present") {
        return Some(list(0..locations.len()));
    }
    let (core, what) = path.strip_prefix("cpu")?.split_once("/topology/")?;
    let own = locations.get(core.parse::<usize>().ok()?)?;
    let alike = |of: fn(&Location) -> u32| {
        let all = locations.iter().enumerate();
        list(all.filter(|(_, other)| of(other) == of(own)).map(|(core, _)| core))
    };
    match what {
        "core_id" => Some(format!("{}\n", own.core)),
        "physical_package_id" => Some(format!("{}\n", own.socket)),
        "thread_siblings_list" | "core_cpus_list" => Some(alike(|of| of.core)),
        "core_siblings_list" | "package_cpus_list" => Some(alike(|of| of.socket)),
        _ => None,
    }
}

/// Those below the folder of nodes.
fn of_nodes(path: &str) -> Option<String> {
    let locations = machine::locations();
    let last = locations.iter().map(|of| of.node).max()? as usize;
    if matches!(path, "online" | "possible" | "has_cpu" | "has_memory" | "has_normal_memory") {
        return Some(list(0..=last));
    }
    let node = path.strip_prefix("node")?.strip_suffix("/cpulist")?.parse::<u32>().ok()?;
    let all = locations.iter().enumerate();
    let cores = all.filter(|(_, of)| of.node == node).map(|(core, _)| core);
    (node as usize <= last).then(|| list(cores))
}

/// Numbers that ascend, in Linux's way: `0-3,8`.
fn list(numbers: impl IntoIterator<Item = usize>) -> String {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let words = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    words.collect::<Vec<_>>().join(",") + "\n"
}
