//! How many cores the program may use.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

/// Zero until counted.
static CORES: AtomicU32 = AtomicU32::new(0);

/// The cores that the program was allowed when it was first asked.
#[inline]
fn count() -> u32 {
    match CORES.load(Ordering::Relaxed) {
        0 => measure(),
        cores => cores,
    }
}

/// Whether there is more than one.
#[inline]
pub(crate) fn are_many() -> bool {
    count() > 1
}

/// Threads that may wait in a lock's own queue: as many as there are cores beside the holder's,
/// but one at least.
#[inline]
pub(crate) fn for_waiters() -> u32 {
    (count() - 1).max(1)
}

/// Counts them.
#[cold]
pub(crate) fn measure() -> u32 {
    let cores = kilocore_preload_common::errno::preserved(|| {
        let mut set = MaybeUninit::<libc::cpu_set_t>::zeroed();
        // SAFETY: a set of the size that is told; zeroes are a valid one.
        unsafe {
            if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), set.as_mut_ptr()) == 0 {
                libc::CPU_COUNT(set.assume_init_ref()) as u32
            } else {
                // A machine with more processors than the set has room for.
                libc::sysconf(libc::_SC_NPROCESSORS_ONLN).max(1) as u32
            }
        }
    });
    let cores = cores.max(1);
    CORES.store(cores, Ordering::Relaxed);
    cores
}
