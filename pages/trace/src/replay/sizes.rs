//! The sizes that policies have on this host.

use std::fs;

use kilocore_pages::{Contents, Linux6_12, Sizes, TieredOptions};

/// Returns the sizes of policies for a pool of so many frames on this host.
#[must_use]
pub fn sizes_here(frames: u32) -> Sizes {
    let tiers = TieredOptions::of_this_machine();
    Sizes {
        frames,
        contents: Contents::Unknown,
        threads_per_core: threads_per_core(),
        linux_6_12: kernel_lists(tiers.cores()),
        tiers,
    }
}

/// Returns the sizes of the lists of Linux 6.12. They are those of this host's kernel, all zones of a processor
/// together, if it says how long its own are; otherwise what Linux computes for so much memory.
#[must_use]
pub fn kernel_lists(cores: u32) -> Linux6_12 {
    let zones = fs::read_to_string("/proc/zoneinfo").unwrap_or_default();
    let of_memory = Linux6_12::for_memory(memory_frames(), cores);
    let (high_min, high_max) = (sum(&zones, "high_min"), sum(&zones, "high_max"));
    if high_min == 0 || high_max < high_min {
        return of_memory;
    }
    Linux6_12 { high_min, high_max, ..of_memory }
}

/// Returns the sum of a figure of processor 0 over all zones.
fn sum(zones: &str, name: &str) -> u32 {
    let mut cpu = None;
    let mut sum = 0;
    for line in zones.lines() {
        let Some((key, value)) = line.trim().split_once(':') else { continue };
        let value: Option<u32> = value.trim().parse().ok();
        if key == "cpu" {
            cpu = value;
        } else if key == name && cpu == Some(0) {
            sum += value.unwrap_or(0);
        }
    }
    sum
}

fn memory_frames() -> u32 {
    // SAFETY: sysconf only reads.
    let pages = unsafe { libc::sysconf(libc::_SC_PHYS_PAGES) };
    u32::try_from(pages).unwrap_or(u32::MAX)
}

fn threads_per_core() -> u32 {
    let siblings = fs::read_to_string("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list");
    let siblings = siblings.unwrap_or_default();
    // A list such as `0,4` or `0-1`; a core has two threads at most on nearly all machines.
    if siblings.trim().contains([',', '-']) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_all_zones_of_a_processor_count() {
        let zones = "Node 0, zone DMA\n  pagesets\n    cpu: 0\n      high_min: 7\n    cpu: 1\n      \
                     high_min: 8\nNode 0, zone Normal\n    cpu: 0\n      high_min: 100\n";
        assert_eq!((sum(zones, "high_min"), sum(zones, "high_max")), (107, 0));
    }
}
