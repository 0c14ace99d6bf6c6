//! The slot in which a thread keeps what it needs for locks.
//!
//! The slot lies in thread-local storage at a fixed distance from the thread pointer. A library
//! that is loaded when the program starts may use such storage. Libraries usually call
//! `__tls_get_addr` for each access instead, which would cost as much as an uncontended lock.

use core::mem::MaybeUninit;

use crate::impatience::Impatience;
use crate::polls::Polls;
use crate::read_holds::ReadHolds;

/// The number of bytes of the slot that a state may use. `c/wait.c` contains the same number.
pub(crate) const STATE_BYTES: usize = 244;

/// The alignment of the slot. `c/wait.c` contains the same number.
pub(crate) const STATE_ALIGN: usize = 64;

/// The slot of a thread. It has the layout of `struct slot` in `c/wait.c`.
#[repr(C, align(64))]
pub(crate) struct Slot {
    pub(crate) state: [MaybeUninit<u8>; STATE_BYTES],
    pub(crate) phase: Phase,
    pub(crate) impatience: Impatience,
    pub(crate) read_holds: ReadHolds,
    pub(crate) polls: Polls,
}

/// The phase of a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
#[allow(dead_code)] // a new thread's zeroed memory is `Empty`
pub(crate) enum Phase {
    /// The thread has not used the slot yet.
    Empty = 0,
    /// The slot contains a state that will be dropped.
    Live = 1,
    /// The state was dropped.
    Dropped = 2,
    /// The slot contains a state that was made after the first one was dropped.
    Late = 3,
}

/// Defines a function that returns the calling thread's slot.
macro_rules! slot {
    ($(#[$doc:meta])* $name:ident; $($options:ident),*) => {
        $(#[$doc])*
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        pub(crate) fn $name() -> *mut Slot {
            let slot: *mut Slot;
            // SAFETY: this is the initial-exec access sequence of the x86-64 thread-local storage
            // ABI: it adds the variable's offset to the thread pointer, which is at fs:0. It may be
            // `pure` because the result does not change within a function, which runs on one
            // thread.
            unsafe {
                core::arch::asm!(
                    "mov {slot}, qword ptr [rip + kilocore_thread_slot@GOTTPOFF]",
                    "add {slot}, qword ptr fs:[0]",
                    slot = out(reg) slot,
                    options($($options,)* nomem, nostack),
                );
            }
            slot
        }
    };
}

slot! {
    /// Returns the slot of the calling thread.
    slot; pure
}

slot! {
    /// Does the same, and never takes over the result of an earlier call. For a function that may
    /// call others in between, and would have to save a register for that.
    slot_anew;
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn slot() -> *mut Slot {
    unsafe extern "C" {
        safe fn kilocore_thread_slot_address() -> *mut Slot;
    }
    kilocore_thread_slot_address()
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use slot as slot_anew;

/// Returns how long the calling thread has waited for its present lock.
#[inline(always)]
pub(crate) fn impatience<'a>() -> &'a mut Impatience {
    // SAFETY: the slot belongs to this thread and lives as long as the thread. No caller uses the
    // result of an earlier call any more when this is called.
    unsafe { &mut (*slot()).impatience }
}

/// Returns what the calling thread keeps of the tries that failed.
#[inline(always)]
pub(crate) fn polls<'a>() -> &'a mut Polls {
    // SAFETY: as in `impatience`.
    unsafe { &mut (*slot()).polls }
}

/// Returns what the calling thread keeps of the read-write locks that it holds for reading.
#[inline(always)]
pub(crate) fn read_holds<'a>() -> &'a mut ReadHolds {
    // SAFETY: as in `impatience`.
    unsafe { &mut (*slot()).read_holds }
}

/// Does the same by [`slot_anew`].
#[inline(always)]
pub(crate) fn read_holds_anew<'a>() -> &'a mut ReadHolds {
    // SAFETY: as in `impatience`.
    unsafe { &mut (*slot_anew()).read_holds }
}
