//! What the processor says it can do.

use core::arch::x86_64::{__cpuid_count, CpuidResult};

/// Returns what the instruction `cpuid` says of a leaf.
///
/// Inline, so that a lock that asks where it runs saves no registers for a call.
#[inline(always)]
#[allow(
    unused_unsafe,
    reason = "to call it is unsafe in the oldest compiler that this crate supports"
)]
pub(super) fn cpuid(leaf: u32, subleaf: u32) -> CpuidResult {
    // SAFETY: every x86-64 processor has the instruction, and it changes nothing.
    unsafe { __cpuid_count(leaf, subleaf) }
}
