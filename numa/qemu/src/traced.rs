//! Whether locks are traced.

use std::sync::atomic::{AtomicBool, Ordering};

use kilocore_qemu_plugin::guest_base;

/// Whether locks are traced.
static ON: AtomicBool = AtomicBool::new(false);

pub(crate) fn turn_on() {
    ON.store(true, Ordering::Relaxed);
}

/// Whether locks are traced. That needs addresses which are the program's own.
pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed) && (guest_base() == 0 || give_up())
}

#[cold]
fn give_up() -> bool {
    ON.store(false, Ordering::Relaxed);
    eprintln!("kilocore: QEMU moved the program's addresses, so locks cannot be traced");
    false
}
