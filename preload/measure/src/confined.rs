//! Whether the process is confined. [`confinement`](crate::confinement) prepares for that.

use core::sync::atomic::{AtomicBool, Ordering};

/// Whether system calls may kill the process. A forked child inherits this, as it inherits the
/// filter.
pub(crate) static CONFINED: AtomicBool = AtomicBool::new(false);

/// Whether reading the clock may kill a thread that is not recorded yet.
pub(crate) static CLOCKLESS: AtomicBool = AtomicBool::new(false);

/// Returns whether the recorder must not make system calls.
#[inline(always)]
pub(crate) fn is_confined() -> bool {
    CONFINED.load(Ordering::Relaxed)
}

/// Returns whether threads that are not recorded yet must not join the recording.
pub(crate) fn is_clockless() -> bool {
    CLOCKLESS.load(Ordering::Relaxed)
}
