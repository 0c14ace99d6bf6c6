//! The cores that processes may run on.

use std::io;

use kilocore_host::{CpuId, CpuSet};

/// Returns the cores that the calling thread may run on, in ascending order.
#[must_use]
pub fn allowed_cores() -> Vec<CpuId> {
    CpuSet::of_this_thread().map_or_else(|_| vec![CpuId(0)], |set| set.iter().collect())
}

/// Returns the allowed cores that are not in `taken`: those that a program confined to `taken`
/// leaves to others.
#[must_use]
pub fn spare_cores(taken: Option<&[CpuId]>) -> Vec<CpuId> {
    let Some(taken) = taken else { return Vec::new() };
    allowed_cores().into_iter().filter(|core| !taken.contains(core)).collect()
}

/// Confines the calling thread, and what it starts, to some cores.
///
/// # Errors
/// The system's error, or that a core's number is out of range.
///
/// This allocates nothing and does nothing but system calls, so it may be called between fork and
/// exec.
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
