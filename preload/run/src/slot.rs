//! The slot in which a thread keeps what it needs for locks.
//!
//! It lies in thread-local storage at a fixed distance from the thread pointer. A library that is
//! present from the start may use such storage. The usual way for libraries is a call of
//! `__tls_get_addr` for each access, which would cost as much as an uncontended lock.

use core::mem::MaybeUninit;

use crate::impatience::Impatience;

/// Bytes of the slot that a state may use; also in `c/wait.c`.
pub(crate) const STATE_BYTES: usize = 248;

/// Alignment of the slot; also in `c/wait.c`.
pub(crate) const STATE_ALIGN: usize = 64;

/// `struct slot` in `c/wait.c`.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) state: [MaybeUninit<u8>; STATE_BYTES],
    pub(crate) phase: Phase,
    pub(crate) impatience: Impatience,
}

/// How far along the slot is.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(dead_code)] // a new thread's zeroed memory is `Empty`
pub(crate) enum Phase {
    /// Never used by this thread.
    Empty = 0,
    /// Holds a state that will be dropped.
    Live = 1,
    /// The state was dropped.
    Dropped = 2,
    /// Made anew after that.
    Late = 3,
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn slot() -> *mut Slot {
    let slot: *mut Slot;
    // SAFETY: the initial-exec access sequence of the x86-64 thread-local storage ABI: the
    // variable's offset from the thread pointer, which fs:0 holds. `pure`, because the answer is
    // the same all through a function that runs on one thread.
    unsafe {
        core::arch::asm!(
            "mov {slot}, qword ptr [rip + kilocore_thread_slot@GOTTPOFF]",
            "add {slot}, qword ptr fs:[0]",
            slot = out(reg) slot,
            options(pure, nomem, nostack),
        );
    }
    slot
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn slot() -> *mut Slot {
    unsafe extern "C" {
        safe fn kilocore_thread_slot_address() -> *mut Slot;
    }
    kilocore_thread_slot_address()
}

/// How long the calling thread has waited for its present lock.
#[inline(always)]
pub(crate) fn impatience<'a>() -> &'a mut Impatience {
    // SAFETY: the slot belongs to this thread and lives as long as it. Nothing calls this while it
    // uses what an earlier call gave.
    unsafe { &mut (*slot()).impatience }
}
