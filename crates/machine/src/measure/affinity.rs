//! Which processors this process may use, and running on one of them.

use super::MeasureError;
use std::io::Error;

/// The processors that the calling thread may use, by Linux' numbers, in rising order.
pub(crate) fn allowed() -> Vec<u32> {
    let set = current();
    // SAFETY: CPU_ISSET reads the set at an index below its size, CPU_SETSIZE bits.
    (0..libc::CPU_SETSIZE as usize)
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .filter_map(|cpu| u32::try_from(cpu).ok())
        .collect()
}

fn current() -> libc::cpu_set_t {
    // SAFETY: a set of processors is plain bits, for which all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes at most the size given, which is the set's. Should it fail (a
    // machine with more processors than the set has bits), the set stays empty.
    unsafe { libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) };
    set
}

/// Keeps the calling thread on one processor until it is dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    before: libc::cpu_set_t,
}

impl Pinned {
    pub(crate) fn to(cpu: u32) -> Result<Self, MeasureError> {
        let before = current();
        if cpu >= libc::CPU_SETSIZE as u32 {
            return Err(MeasureError::Pin { cpu, reason: "there is no such processor".to_owned() });
        }
        // SAFETY: as in `current`; the index was checked.
        let set = unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu as usize, &mut set);
            set
        };
        // SAFETY: the kernel reads the size given from a set of that size.
        if unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set) } != 0 {
            return Err(MeasureError::Pin { cpu, reason: Error::last_os_error().to_string() });
        }
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: as in `to`. Restoring the set that the thread had can fail only if processors
        // went offline meanwhile; then the thread stays where it is, which is harmless.
        unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &self.before) };
    }
}
