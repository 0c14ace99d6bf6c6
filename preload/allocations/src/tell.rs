//! Telling the plugin of blocks.

use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

use kilocore_preload_common::allocation_calls::{ALLOCATED, FREED};
use kilocore_preload_common::errno;

use crate::next;

/// Blocks of fewer bytes are not told of. At first that is all of them.
static LEAST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Begins to tell of blocks of at least so many bytes.
pub(crate) fn begin(least: usize) {
    LEAST.store(least.max(1), Ordering::Relaxed); // Relaxed: either value is right.
}

/// A block was allocated, if it is not null.
#[inline]
pub(crate) fn allocated(block: *mut c_void, bytes: usize) {
    if bytes >= LEAST.load(Ordering::Relaxed) && !block.is_null() {
        tell(block, bytes, ALLOCATED);
    }
}

/// A block is about to be freed. Afterwards somebody else might have it before that was told.
#[inline]
pub(crate) fn freed(block: *mut c_void) -> Option<usize> {
    let bytes = bytes_of(block)?;
    // A block has at least as many bytes as were asked for, so none that was told of is left out.
    if bytes < LEAST.load(Ordering::Relaxed) {
        return None;
    }
    tell(block, bytes, FREED);
    Some(bytes)
}

fn bytes_of(block: *mut c_void) -> Option<usize> {
    if block.is_null() {
        return None;
    }
    // SAFETY: the caller is about to free the block, so it is one of the allocator's.
    next::malloc_usable_size().map(|next| unsafe { next(block) })
}

#[cold]
#[inline(never)]
fn tell(block: *mut c_void, bytes: usize, what: i32) {
    // SAFETY: there is no such advice, so the kernel does nothing.
    errno::preserved(|| unsafe { libc::syscall(libc::SYS_madvise, block, bytes, what) });
}
