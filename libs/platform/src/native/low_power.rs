//! Resting a core on a cache line from user space: `umonitor`/`umwait` (Intel, CPUID leaf 7,
//! ECX bit 5) and `monitorx`/`mwaitx` (AMD, CPUID leaf 0x8000_0001, ECX bit 29).
//!
//! A hypervisor that hides the instructions also makes them fault, so nothing here runs unless
//! CPUID reports them. The monitor is armed first and the word read again after that, so that a
//! store in between is not slept through. Every rest is bounded (Linux caps `umwait` anyway).

use crate::Atomic;

/// Which instruction pair this processor offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Unknown = 0,
    None = 1,
    Umwait = 2,
    Mwaitx = 3,
}

/// Whether [`rest`] rests the core at all.
#[inline]
pub(super) fn available() -> bool {
    matches!(kind(), Kind::Umwait | Kind::Mwaitx)
}

/// The longest single rest in cycles: short enough that an owner who was preempted between its
/// stores is noticed, long enough to be worth entering.
#[cfg(target_arch = "x86_64")]
const LONGEST_REST: u64 = 100_000;

/// Rests until the line of `cell` is written, a bounded time has passed, or at once if `wanting`
/// no longer holds for its value once the line is watched.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn rest<A: Atomic>(cell: &A, wanting: impl FnOnce(A::Value) -> bool) {
    use core::arch::asm;
    use core::sync::atomic::Ordering;

    let address = core::ptr::from_ref(cell);
    match kind() {
        Kind::Umwait => {
            // SAFETY: CPUID reports WAITPKG; umonitor only names a line of live memory.
            unsafe { asm!("umonitor {0}", in(reg) address, options(nostack, preserves_flags)) };
            if wanting(cell.load(Ordering::Acquire)) {
                // SAFETY: rdtsc is always there.
                let until = unsafe { core::arch::x86_64::_rdtsc() } + LONGEST_REST;
                // SAFETY: CPUID reports WAITPKG. Control word 0 asks for C0.2; the deadline is
                // in edx:eax; only flags change.
                unsafe {
                    asm!("umwait {0:e}", in(reg) 0u32,
                         in("eax") until as u32, in("edx") (until >> 32) as u32,
                         options(nostack));
                }
            }
        }
        Kind::Mwaitx => {
            // SAFETY: CPUID reports MONITORX; rax names a line of live memory, ecx and edx are
            // hints that must be 0.
            unsafe {
                asm!("monitorx", in("rax") address, in("ecx") 0u32, in("edx") 0u32,
                     options(nostack, preserves_flags));
            }
            if wanting(cell.load(Ordering::Acquire)) {
                // SAFETY: as above. ecx bit 1 arms the timer whose length is in ebx, which has
                // to be swapped in because LLVM keeps rbx for itself; eax 0xF0 stays in C0.
                unsafe {
                    asm!("xchg {tmp:r}, rbx", "mwaitx", "xchg {tmp:r}, rbx",
                         tmp = inout(reg) LONGEST_REST => _,
                         in("eax") 0xF0u32, in("ecx") 2u32,
                         options(nostack, preserves_flags));
                }
            }
        }
        Kind::None | Kind::Unknown => core::hint::spin_loop(),
    }
}

/// No such instruction on this architecture yet: spin.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn rest<A: Atomic>(_cell: &A, _wanting: impl FnOnce(A::Value) -> bool) {
    core::hint::spin_loop();
}

#[inline]
fn kind() -> Kind {
    use core::sync::atomic::{AtomicU8, Ordering};
    // Detection is idempotent, so threads that race here write the same byte.
    static FOUND: AtomicU8 = AtomicU8::new(Kind::Unknown as u8);
    match FOUND.load(Ordering::Relaxed) {
        1 => Kind::None,
        2 => Kind::Umwait,
        3 => Kind::Mwaitx,
        _ => {
            let found = detect();
            FOUND.store(found as u8, Ordering::Relaxed);
            found
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[cold]
fn detect() -> Kind {
    use core::arch::x86_64::{__cpuid, __cpuid_count};
    if __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx & (1 << 5) != 0 {
        Kind::Umwait
    } else if __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).ecx & (1 << 29) != 0 {
        Kind::Mwaitx
    } else {
        Kind::None
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Kind {
    Kind::None
}
