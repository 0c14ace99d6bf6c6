//! Whether the processor says in one cheap instruction where a thread runs.
//!
//! `rdtscp` does, too, and reads the time-stamp counter beside, which takes some twenty times as
//! long in a virtual machine that traps or scales it.

use core::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

static RDPID: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether there is `rdpid`.
#[inline]
pub(super) fn has_rdpid() -> bool {
    // Relaxed: whoever finds it unknown finds out the same.
    match RDPID.load(Ordering::Relaxed) {
        UNKNOWN => find_out(),
        known => known == YES,
    }
}

#[cold]
fn find_out() -> bool {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    let has = __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx & (1 << 22) != 0;
    RDPID.store(if has { YES } else { NO }, Ordering::Relaxed);
    has
}
