//! Whether the processor has `rdpid`, a cheap instruction that reads where a thread runs.
//!
//! `rdtscp` reads the same, but it also reads the time-stamp counter. In a virtual machine that
//! traps or scales the counter, `rdtscp` takes about twenty times as long as `rdpid`.

use core::sync::atomic::{AtomicU8, Ordering};

use super::cpuid::cpuid;

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

static RDPID: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Returns whether the processor has `rdpid`. Only the first call asks CPUID, which is slow.
#[inline]
pub(super) fn has_rdpid() -> bool {
    // Relaxed: every thread that finds it unknown asks CPUID and gets the same answer.
    match RDPID.load(Ordering::Relaxed) {
        UNKNOWN => find_out(),
        known => known == YES,
    }
}

/// Inline, so that a lock that asks where it runs saves no registers for a call.
#[cold]
#[inline(always)]
fn find_out() -> bool {
    let has = cpuid(0, 0).eax >= 7 && cpuid(7, 0).ecx & (1 << 22) != 0;
    RDPID.store(if has { YES } else { NO }, Ordering::Relaxed);
    has
}
