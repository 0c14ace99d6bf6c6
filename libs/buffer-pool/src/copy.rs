//! A copy of a page, from which it is written.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

/// No more is asked for: a disk's sector has no more bytes.
const MOST_ALIGNED: usize = 4096;

/// A copy, as far aligned as pages of its size are in the pool's memory. Direct output needs that.
pub(crate) struct PageCopy {
    /// It begins within what was allocated: an allocator takes longer for what is aligned.
    start: NonNull<u8>,
    bytes: usize,
    allocated: NonNull<u8>,
    layout: Layout,
    is_filled: bool,
}

impl PageCopy {
    /// Returns room for a copy of so many bytes, at least 1, or nothing if there is not so much memory.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        let aligned = (1 << bytes.trailing_zeros()).min(MOST_ALIGNED);
        let layout = Layout::array::<u8>(bytes.checked_add(aligned - 1)?).ok()?;
        // SAFETY: the size is not zero.
        let allocated = NonNull::new(unsafe { alloc(layout) })?;
        let before = allocated.addr().get().wrapping_neg() % aligned;
        // SAFETY: so many bytes, and those of the copy after them, were allocated.
        let start = unsafe { allocated.add(before) };
        Some(Self { start, bytes, allocated, layout, is_filled: false })
    }

    /// Copies a page of as many bytes as there is room for.
    pub(crate) fn fill(&mut self, page: &[u8]) {
        assert_eq!(page.len(), self.bytes);
        // SAFETY: there is room for so many bytes, which are this value's own.
        unsafe { self.start.copy_from_nonoverlapping(NonNull::from(page).cast(), page.len()) };
        self.is_filled = true;
    }

    /// Returns what was copied.
    ///
    /// # Panics
    /// If nothing was.
    pub(crate) fn bytes(&self) -> &[u8] {
        assert!(self.is_filled);
        // SAFETY: all of it was written, and it is borrowed from this value.
        unsafe { NonNull::slice_from_raw_parts(self.start, self.bytes).as_ref() }
    }
}

impl Drop for PageCopy {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.allocated.as_ptr(), self.layout) };
    }
}
