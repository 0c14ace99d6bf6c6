//! The affinity of any thread, of any size.

use std::io;

use kilocore_sched_policy::{CpuId, CpuSet};

/// Room for 16,384 cores, which is more than Linux can be built for.
const WORDS: usize = 256;

/// Where a thread may run.
pub(crate) fn affinity(tid: u32) -> io::Result<CpuSet> {
    let mut words = [0u64; WORDS];
    // SAFETY: the buffer is ours and as long as the call is told.
    let bytes = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, tid, size_of_val(&words), words.as_mut_ptr())
    };
    if bytes < 0 {
        return Err(io::Error::last_os_error());
    }
    let cpus = (0..WORDS as u32 * u64::BITS)
        .filter(|cpu| words[(cpu / u64::BITS) as usize] & (1 << (cpu % u64::BITS)) != 0);
    Ok(cpus.map(CpuId).collect())
}

/// Says where a thread may run.
pub(crate) fn set_affinity(tid: u32, cpus: &CpuSet) -> io::Result<()> {
    let mut words = [0u64; WORDS];
    for cpu in cpus.iter() {
        let word = words.get_mut((cpu.0 / u64::BITS) as usize);
        *word.ok_or_else(|| io::Error::from_raw_os_error(libc::EINVAL))? |=
            1 << (cpu.0 % u64::BITS);
    }
    // SAFETY: the buffer is readable and as long as the call is told.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, tid, size_of_val(&words), words.as_ptr())
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
