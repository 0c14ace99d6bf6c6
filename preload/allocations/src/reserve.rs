//! Memory for the dynamic linker, which may allocate while it looks for the allocator.
//!
//! In older versions of glibc it does so by the functions of this library. It asks for a few bytes. They
//! are never used again, so blocks are cut off one after the other.

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The bytes of the reserve.
const BYTES: usize = 64 << 10;

#[repr(C, align(4096))]
struct Reserve(UnsafeCell<MaybeUninit<[u8; BYTES]>>);

// SAFETY: only its address is used, and each part of it is handed out once.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve(UnsafeCell::new(MaybeUninit::zeroed()));
static USED: AtomicUsize = AtomicUsize::new(0);

/// A block of zeros, or null.
#[cold]
pub(crate) fn block(bytes: usize, align: usize) -> *mut c_void {
    let align = align.max(16);
    if !align.is_power_of_two() || align > 4096 {
        return ptr::null_mut();
    }
    let cut = |used: usize| {
        let end = used.checked_next_multiple_of(align)?.checked_add(bytes.max(1))?;
        (end <= BYTES).then_some(end)
    };
    // Relaxed: nobody has used what is cut off.
    match USED.fetch_update(Ordering::Relaxed, Ordering::Relaxed, cut) {
        Ok(used) => RESERVE.0.get().wrapping_byte_add(used.next_multiple_of(align)).cast(),
        Err(_) => ptr::null_mut(),
    }
}

/// How many bytes there are from a block to the end of the reserve, if it is a block of the reserve.
#[inline]
pub(crate) fn behind(block: *mut c_void) -> Option<usize> {
    let offset = block.addr().wrapping_sub(RESERVE.0.get().addr());
    (offset < BYTES).then(|| BYTES - offset)
}
