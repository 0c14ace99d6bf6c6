//! Static memory, for where no allocator may be called.

use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The largest alignment of a block: that of the reserve.
const MOST_ALIGN: usize = 4096;

/// So many bytes of zeros, off which blocks are cut one after the other. None is ever used again.
///
/// The reserve takes addresses, and memory only where it is used.
#[derive(Debug)]
#[repr(C, align(4096))] // [`MOST_ALIGN`]
pub struct Reserve<const BYTES: usize> {
    bytes: UnsafeCell<MaybeUninit<[u8; BYTES]>>,
    /// How many bytes were cut off.
    used: AtomicUsize,
}

// SAFETY: only the address of the bytes is used, and each part of them is handed out once.
unsafe impl<const BYTES: usize> Sync for Reserve<BYTES> {}

impl<const BYTES: usize> Reserve<BYTES> {
    /// A reserve of which nothing was used.
    #[must_use]
    #[allow(clippy::new_without_default)] // it is for statics
    pub const fn new() -> Self {
        Self { bytes: UnsafeCell::new(MaybeUninit::zeroed()), used: AtomicUsize::new(0) }
    }

    /// Cuts a block of zeros off. None if too little is left, or at an alignment of more than a page.
    pub fn cut(&self, layout: Layout) -> Option<*mut u8> {
        if layout.align() > MOST_ALIGN {
            return None;
        }
        let begin = |used: usize| used.checked_next_multiple_of(layout.align());
        let end = |used| begin(used)?.checked_add(layout.size()).filter(|end| *end <= BYTES);
        // Relaxed: the sum decides who gets a block, and its bytes were there before.
        let used = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, end).ok()?;
        Some(self.bytes.get().cast::<u8>().wrapping_add(begin(used)?))
    }

    /// Cuts off a block as `malloc` gives them, or returns null. `align` is at least the alignment of
    /// any C type.
    #[cold]
    pub fn block(&self, bytes: usize, align: usize) -> *mut core::ffi::c_void {
        let layout = Layout::from_size_align(bytes.max(1), align.max(16));
        layout.ok().and_then(|layout| self.cut(layout)).map_or(ptr::null_mut(), <*mut u8>::cast)
    }

    /// How many bytes there are from a block to the end of the reserve, if it is a block of this one.
    #[inline]
    pub fn behind(&self, block: *mut core::ffi::c_void) -> Option<usize> {
        let offset = block.addr().wrapping_sub(self.bytes.get().addr());
        (offset < BYTES).then(|| BYTES - offset)
    }
}

#[cfg(test)]
mod tests {
    use super::Reserve;

    #[test]
    fn blocks_are_apart_and_aligned_until_nothing_is_left() {
        static RESERVE: Reserve<256> = Reserve::new();
        let (first, second) = (RESERVE.block(1, 1), RESERVE.block(100, 64));
        assert_eq!((RESERVE.behind(first), RESERVE.behind(second)), (Some(256), Some(192)));
        assert!(second.addr().is_multiple_of(64));
        assert!(RESERVE.block(93, 1).is_null() && RESERVE.block(1, 24).is_null());
        assert!(RESERVE.block(1, 8192).is_null() && RESERVE.block(usize::MAX, 16).is_null());
        assert_eq!(RESERVE.behind(RESERVE.block(80, 16)), Some(80));
        assert!(RESERVE.block(0, 1).is_null());
        assert_eq!(RESERVE.behind(first.wrapping_byte_sub(1)), None);
    }
}
