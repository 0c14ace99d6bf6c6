//! Facts about this machine.

use std::ffi::CStr;
use std::fs;

use kilocore_profile::{ClockRate, Host};

/// The cores that this process may run on, ascending.
#[must_use]
pub fn allowed_cores() -> Vec<usize> {
    // SAFETY: zero bytes are an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: `set` is ours to be written, of the size given.
    let failed = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0;
    if failed {
        return vec![0];
    }
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: the index is below the size of the set.
        .filter(|core| unsafe { libc::CPU_ISSET(*core, &set) })
        .collect()
}

/// The host as a profile describes it, its time-stamp counter going at `clock`.
///
/// [`Host::core_to_core_ns`] is left open: whoever can measure it fills it in.
#[must_use]
pub fn host(clock: ClockRate) -> Host {
    Host {
        processor: processor(),
        cores: allowed_cores().len() as u32,
        clock_ghz: clock.ghz,
        core_to_core_ns: None,
        kernel: kernel(),
    }
}

/// The processor's name for itself.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == "model name")
        .map_or_else(|| "unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

/// The kernel's release.
fn kernel() -> String {
    // SAFETY: zero bytes are valid for an array of characters.
    let mut names: libc::utsname = unsafe { core::mem::zeroed() };
    // SAFETY: `names` is ours to be written.
    if unsafe { libc::uname(&raw mut names) } != 0 {
        return "unknown".to_owned();
    }
    // SAFETY: uname fills in a C string.
    let release = unsafe { CStr::from_ptr(names.release.as_ptr()) };
    release.to_string_lossy().into_owned()
}
