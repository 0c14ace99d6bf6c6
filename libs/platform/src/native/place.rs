//! How a thread reads where it runs.
//!
//! `rdpid` is a cheap instruction for it. `rdtscp` reads the same, but it also reads the time-stamp counter. In a
//! virtual machine that traps or scales the counter, `rdtscp` takes about twenty times as long as `rdpid`. Where QEMU
//! executes a program, neither says where the thread runs, but the system does.

use core::sync::atomic::{AtomicU8, Ordering};

use super::cpuid::cpuid;

/// What says where a thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Says {
    /// The instruction `rdpid`.
    Rdpid = 1,
    /// The instruction `rdtscp`.
    Rdtscp = 2,
    /// The system.
    System = 3,
}

const UNKNOWN: u8 = 0;
const RDPID: u8 = Says::Rdpid as u8;
const RDTSCP: u8 = Says::Rdtscp as u8;

static SAYS: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Returns what says where a thread runs. Only the first call asks CPUID, which is slow.
#[inline]
pub(super) fn says() -> Says {
    // Relaxed: every thread that finds it unknown asks CPUID and gets the same answer.
    match SAYS.load(Ordering::Relaxed) {
        UNKNOWN => find_out(),
        RDPID => Says::Rdpid,
        RDTSCP => Says::Rdtscp,
        _ => Says::System,
    }
}

/// Inline, so that a lock that asks where it runs saves no registers for a call.
#[cold]
#[inline(always)]
fn find_out() -> Says {
    let says = if is_executed_by_qemu() {
        Says::System
    } else if cpuid(0, 0).eax >= 7 && cpuid(7, 0).ecx & (1 << 22) != 0 {
        Says::Rdpid
    } else {
        Says::Rdtscp
    };
    SAYS.store(says as u8, Ordering::Relaxed);
    says
}

/// Whether QEMU translates the instructions: it gives its name where hypervisors give theirs.
#[inline(always)]
fn is_executed_by_qemu() -> bool {
    const HYPERVISOR: u32 = 1 << 31;
    let word = |at: usize| {
        let name = b"TCGTCGTCGTCG";
        u32::from_le_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]])
    };
    let name = cpuid(0x4000_0000, 0);
    cpuid(1, 0).ecx & HYPERVISOR != 0
        && [name.ebx, name.ecx, name.edx] == [word(0), word(4), word(8)]
}
