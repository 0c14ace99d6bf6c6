//! Whether the process is confined; [`confinement`](crate::confinement) sees to it that it can be.

use core::sync::atomic::{AtomicBool, Ordering};

/// Whether system calls may kill the process. A forked child inherits it, as it does the filter.
pub(crate) static CONFINED: AtomicBool = AtomicBool::new(false);

/// Whether reading the clock may kill threads that are not recorded yet.
pub(crate) static CLOCKLESS: AtomicBool = AtomicBool::new(false);

/// Whether the recorder must do without system calls.
#[inline(always)]
pub(crate) fn is_confined() -> bool {
    CONFINED.load(Ordering::Relaxed)
}

/// Whether threads that are not recorded yet must stay so.
pub(crate) fn is_clockless() -> bool {
    CLOCKLESS.load(Ordering::Relaxed)
}
