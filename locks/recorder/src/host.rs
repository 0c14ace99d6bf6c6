//! Facts about this machine.

use std::fs;

use kilocore_hardware::hardware_threads;
use kilocore_linux::offline_cores;
use kilocore_lock_profile::{ClockRate, Host, HostThread};
use kilocore_process::{allowed_cores, kernel_release};

/// Returns the host as a profile describes it. `clock` is the rate of its time-stamp counter.
///
/// [`Host::core_to_core`] is left empty. A caller that can measure it fills it in.
#[must_use]
pub fn host(clock: ClockRate) -> Host {
    let cores = allowed_cores();
    let threads = hardware_threads(&cores).into_iter();
    Host {
        processor: processor(),
        cores: cores.len() as u32,
        clock_ghz: clock.ghz,
        core_to_core: None,
        kernel: kernel_release(),
        offline: offline_cores(),
        hardware_threads: threads
            .map(|thread| HostThread { cpu: thread.cpu.0, core: thread.core, speed: thread.speed })
            .collect(),
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
