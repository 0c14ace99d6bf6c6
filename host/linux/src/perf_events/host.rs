//! What this host allows and has.

use std::fs;
use std::str::FromStr;

use kilocore_platform::cpu_list;

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
    let cores = fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
    let cores: Vec<u32> = cpu_list(&cores)?.map(|cpu| cpu.0).collect();
    (!cores.is_empty()).then_some(cores)
}
