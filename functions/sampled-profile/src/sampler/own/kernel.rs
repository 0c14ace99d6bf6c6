//! The sampler's interface to the kernel, which tests replace to play other kernels.

use std::fs;
use std::io;
use std::str::FromStr;

use kilocore_linux::perf_events::Event;
use kilocore_process::CpuId;
use perf_event_open_sys::bindings::perf_event_attr;

/// What the sampler asks of the kernel. Tests have one that refuses what they want refused.
pub(crate) trait Kernel {
    /// Opens an event for a process on a core.
    fn open(
        &self,
        attribute: &mut perf_event_attr,
        pid: libc::pid_t,
        core: CpuId,
    ) -> io::Result<Event>;

    /// `kernel.perf_event_paranoid`, which decides what users may sample, or `None` if it cannot be
    /// read.
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
        kilocore_linux::perf_events::paranoid()
    }

    fn highest_frequency(&self) -> Option<u32> {
        number("/proc/sys/kernel/perf_event_max_sample_rate")
    }

    fn online(&self) -> Vec<CpuId> {
        let online = kilocore_linux::perf_events::online_cores();
        online.map_or_else(kilocore_process::allowed_cores, |cores| {
            cores.into_iter().map(CpuId).collect()
        })
    }
}

fn number<T: FromStr>(file: &str) -> Option<T> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}
