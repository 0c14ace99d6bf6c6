//! The cores that processes may run on.

use std::collections::BTreeSet;
use std::io;

use kilocore_hardware::{CpuId, affinity};

/// Returns the cores that the calling thread may run on, in ascending order.
#[must_use]
pub fn allowed_cores() -> Vec<CpuId> {
    affinity(0).map_or_else(|_| vec![CpuId(0)], |set| set.iter().collect())
}

/// Returns the cores that any of these threads may run on, in ascending order. Those that have ended
/// count for nothing.
#[must_use]
pub fn cores_of(threads: impl IntoIterator<Item = u32>) -> Vec<CpuId> {
    let sets = threads.into_iter().filter_map(|thread| affinity(thread).ok());
    let cores: BTreeSet<CpuId> = sets.flat_map(|set| set.iter().collect::<Vec<_>>()).collect();
    cores.into_iter().collect()
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
    kilocore_hardware::confine(cores.iter().copied())
}

#[cfg(test)]
mod tests {
    use kilocore_hardware::CpuSet;

    use super::*;

    #[test]
    fn what_a_program_leaves_is_what_it_does_not_take() {
        let all = allowed_cores();
        assert!(spare_cores(None).is_empty(), "an unconfined program takes all");
        assert!(spare_cores(Some(&all)).is_empty());
        assert_eq!(spare_cores(Some(&all[..1])), all[1..]);
    }

    #[test]
    fn threads_have_together_what_each_may_use() {
        assert_eq!(cores_of([0]), allowed_cores());
        assert_eq!(cores_of([u32::MAX, 0, 0]), allowed_cores());
        assert!(cores_of([u32::MAX]).is_empty());
    }

    #[test]
    fn cores_out_of_range_and_none_at_all_are_refused() {
        assert_eq!(confine(&[CpuId(CpuSet::ROOM)]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
        assert_eq!(confine(&[]).unwrap_err().raw_os_error(), Some(libc::EINVAL));
    }
}
