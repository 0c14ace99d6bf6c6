//! The memory of the pages.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use kilocore_lru::FrameId;

/// Pages begin at multiples of this if their size is one, as direct input and output need it.
const ALIGNMENT: usize = 4096;

/// Memory for a page in each frame. The system provides it when it is first written.
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
    page_bytes: usize,
}

// SAFETY: it is plain memory. Who may use a page is the frame's latch's matter.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Returns zeroed memory, or nothing if there is not enough.
    pub(crate) fn new(frames: u32, page_bytes: usize) -> Option<Self> {
        let bytes = page_bytes.checked_mul(frames as usize)?;
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).ok()?;
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { start, layout, page_bytes })
    }

    pub(crate) fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Returns where a frame's page is. The frame has to be one of the pool's.
    pub(crate) fn page(&self, frame: FrameId) -> NonNull<[u8]> {
        let offset = frame.0 as usize * self.page_bytes;
        debug_assert!(offset + self.page_bytes <= self.layout.size());
        // SAFETY: the memory has a page for each frame.
        let start = unsafe { self.start.add(offset) };
        NonNull::slice_from_raw_parts(start, self.page_bytes)
    }

    /// Gives the memory of a frame's page back to the system. Its content is lost.
    ///
    /// # Safety
    /// Nobody uses the page.
    pub(crate) unsafe fn release(&self, frame: FrameId) {
        #[cfg(target_os = "linux")]
        if self.page_bytes.is_multiple_of(ALIGNMENT) {
            let page = self.page(frame).cast();
            // It is only advice: if the system does not take it, the memory stays with the program.
            // SAFETY: the page is ours, and nobody uses it, by the caller's promise.
            unsafe { libc::madvise(page.as_ptr(), self.page_bytes, libc::MADV_DONTNEED) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
