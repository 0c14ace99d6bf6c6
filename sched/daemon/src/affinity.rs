//! The affinity of any thread, of any size.

use std::io;

use kilocore_sched_policy::CpuSet;

/// Where a thread may run.
pub(crate) fn affinity(tid: u32) -> io::Result<CpuSet> {
    Ok(kilocore_hardware::affinity(tid)?.iter().collect())
}

/// Says where a thread may run.
pub(crate) fn set_affinity(tid: u32, cpus: &CpuSet) -> io::Result<()> {
    let cpus = kilocore_hardware::CpuSet::of(cpus.iter());
    let cpus = cpus.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))?;
    kilocore_hardware::set_affinity(tid, &cpus)
}
