//! The cores that processes may run on.

use std::io;

/// A hardware thread, numbered from 0 as the operating system numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(pub u32);

/// How many hardware threads a set of the C library has room for.
const MOST: u32 = libc::CPU_SETSIZE as u32;

/// The cores that the calling thread may run on, ascending.
#[must_use]
pub fn allowed_cores() -> Vec<CpuId> {
    // SAFETY: zero bytes are an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: `set` is ours to be written, of the size given.
    let failed = unsafe { libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) } != 0;
    if failed {
        return vec![CpuId(0)];
    }
    (0..MOST)
        // SAFETY: the index is below the size of the set.
        .filter(|core| unsafe { libc::CPU_ISSET(*core as usize, &set) })
        .map(CpuId)
        .collect()
}

/// The allowed cores that a program confined to `taken` leaves to others; empty if it leaves none.
#[must_use]
pub fn spare_cores(taken: Option<&[CpuId]>) -> Vec<CpuId> {
    let Some(taken) = taken else { return Vec::new() };
    allowed_cores().into_iter().filter(|core| !taken.contains(core)).collect()
}

/// Confines the calling thread, and what it starts, to some cores.
///
/// # Errors
/// What the system says, or that a core's number is out of range. No allocation, and nothing but
/// system calls: it may be called between fork and exec.
pub fn confine(cores: &[CpuId]) -> io::Result<()> {
    // SAFETY: zero bytes are an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    for core in cores {
        if core.0 >= MOST {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        // SAFETY: the index is below the size of the set.
        unsafe { libc::CPU_SET(core.0 as usize, &mut set) };
    }
    // SAFETY: a set of the size given.
    if unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_leaves_is_what_it_does_not_take() {
        let all = allowed_cores();
        assert!(spare_cores(None).is_empty(), "an unconfined program takes all");
        assert!(spare_cores(Some(&all)).is_empty());
        assert_eq!(spare_cores(Some(&all[..1])), all[1..]);
    }

    #[test]
    fn cores_out_of_range_and_none_at_all_are_refused() {
        assert_eq!(confine(&[CpuId(MOST)]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(confine(&[]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
