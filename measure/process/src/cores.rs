//! The cores that processes may run on.

use std::io;

use kilocore_host::{CpuId, CpuSet};

/// The cores that the calling thread may run on, ascending.
#[must_use]
pub fn allowed_cores() -> Vec<CpuId> {
    CpuSet::of_this_thread().map_or_else(|_| vec![CpuId(0)], |set| set.iter().collect())
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
    CpuSet::of(cores.iter().copied())?.confine_this_thread()
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
        assert_eq!(confine(&[CpuId(CpuSet::ROOM)]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(confine(&[]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
