//! Resting a core on a cache line from user space: `umonitor`/`umwait` (Intel, CPUID leaf 7,
//! ECX bit 5) and `monitorx`/`mwaitx` (AMD, CPUID leaf 0x8000_0001, ECX bit 29).
//!
//! A hypervisor that hides the instructions also makes them fault, so they are executed only if
//! CPUID reports them. A rest first starts to watch the cache line and then reads the word again.
//! It therefore cannot miss a store: a store before that read is seen by the read, and a later one
//! ends the rest. Every rest has a time limit (Linux limits `umwait` anyway).

use crate::Atomic;

/// Which pair of instructions this processor has. `Unknown` means that CPUID was not asked yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Unknown = 0,
    None = 1,
    Umwait = 2,
    Mwaitx = 3,
}

/// Returns whether [`rest`] rests the core. If not, it executes one spin-loop hint.
#[inline]
pub(super) fn available() -> bool {
    matches!(kind(), Kind::Umwait | Kind::Mwaitx)
}

/// The longest single rest, in cycles of the time-stamp counter. It is long enough to be worth its
/// cost, and short enough that the waiter soon notices if the lock's owner was preempted between
/// its stores.
#[cfg(target_arch = "x86_64")]
const LONGEST_REST: u64 = 100_000;

/// Rests until the cache line of `cell` is written or [`LONGEST_REST`] has passed. Returns at once
/// if `wanting` rejects the value that `cell` has after the watch has begun.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn rest<A: Atomic>(cell: &A, wanting: impl FnOnce(A::Value) -> bool) {
    use core::arch::asm;
    use core::sync::atomic::Ordering;

    let address = core::ptr::from_ref(cell);
    match kind() {
        Kind::Umwait => {
            // SAFETY: CPUID reports WAITPKG, so the instruction exists. umonitor only watches a
            // line, here one of live memory, and changes nothing.
            unsafe { asm!("umonitor {0}", in(reg) address, options(nostack, preserves_flags)) };
            if wanting(cell.load(Ordering::Acquire)) {
                // SAFETY: rdtsc is part of x86-64.
                let until = unsafe { core::arch::x86_64::_rdtsc() } + LONGEST_REST;
                // SAFETY: CPUID reports WAITPKG. Control word 0 asks for the state C0.2, and
                // edx:eax contains the deadline. The instruction changes nothing but flags.
                unsafe {
                    asm!("umwait {0:e}", in(reg) 0u32,
                         in("eax") until as u32, in("edx") (until >> 32) as u32,
                         options(nostack));
                }
            }
        }
        Kind::Mwaitx => {
            // SAFETY: CPUID reports MONITORX. rax is an address in a line of live memory. ecx and
            // edx are hints that must be 0.
            unsafe {
                asm!("monitorx", in("rax") address, in("ecx") 0u32, in("edx") 0u32,
                     options(nostack, preserves_flags));
            }
            if wanting(cell.load(Ordering::Acquire)) {
                // SAFETY: CPUID reports MONITORX. Bit 1 of ecx starts the timer, whose length is in
                // ebx. LLVM keeps rbx for itself, so the length is swapped in, and the old content
                // is swapped back after the wait. 0xF0 in eax asks to stay in C0.
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

/// Executes one spin-loop hint. On this architecture, no instruction that rests the core is used
/// yet.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(super) fn rest<A: Atomic>(_cell: &A, _wanting: impl FnOnce(A::Value) -> bool) {
    core::hint::spin_loop();
}

#[inline]
fn kind() -> Kind {
    use core::sync::atomic::{AtomicU8, Ordering};
    // Relaxed: every thread that detects finds the same, so threads that race write the same byte.
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
    use super::cpuid::cpuid;
    if cpuid(0, 0).eax >= 7 && cpuid(7, 0).ecx & (1 << 5) != 0 {
        Kind::Umwait
    } else if cpuid(0x8000_0000, 0).eax >= 0x8000_0001 && cpuid(0x8000_0001, 0).ecx & (1 << 29) != 0
    {
        Kind::Mwaitx
    } else {
        Kind::None
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Kind {
    Kind::None
}
