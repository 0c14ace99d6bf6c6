//! The memory of the pages.
//!
//! It comes from the system itself and not from an allocator, which would write zeros to all of it at once.

use std::ops::Range;
use std::ptr::{self, NonNull};

use kilocore_lru::FrameId;

/// Memory for a page in each frame. The system provides it when it is first written.
pub(crate) struct Memory {
    start: NonNull<u8>,
    bytes: usize,
    page_bytes: usize,
    /// The system provides so many bytes at a time.
    system_page: usize,
}

// SAFETY: it is plain memory. Who may use a page is the frame's latch's matter.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    /// Returns zeroed memory, or nothing if there is not enough.
    pub(crate) fn new(frames: u32, page_bytes: usize) -> Option<Self> {
        // The system maps no empty range.
        let bytes = page_bytes.checked_mul(frames as usize)?.max(1);
        isize::try_from(bytes).ok()?;
        // SAFETY: this asks for new memory, wherever there is room, and touches none that is there.
        let start = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: this only asks.
        let system_page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let system_page = usize::try_from(system_page).expect("each system has pages");
        Some(Self { start: NonNull::new(start.cast())?, bytes, page_bytes, system_page })
    }

    pub(crate) fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Returns where a frame's page is. The frame has to be one of the pool's.
    pub(crate) fn page(&self, frame: FrameId) -> NonNull<[u8]> {
        let offset = frame.0 as usize * self.page_bytes;
        debug_assert!(offset + self.page_bytes <= self.bytes);
        // SAFETY: the memory has a page for each frame.
        let start = unsafe { self.start.add(offset) };
        NonNull::slice_from_raw_parts(start, self.page_bytes)
    }

    /// Gives the memory of a frame's page back to the system, as far as no other page has a part of what the
    /// system takes back at a time. The page's content is lost.
    ///
    /// # Safety
    /// Nobody uses the page.
    pub(crate) unsafe fn release(&self, frame: FrameId) {
        let start = frame.0 as usize * self.page_bytes;
        let whole = whole_units(start..start + self.page_bytes, self.system_page);
        #[cfg(target_os = "linux")]
        if !whole.is_empty() {
            // SAFETY: it is a part of the page.
            let at = unsafe { self.start.add(whole.start) };
            // It is only advice: if the system does not take it, the memory stays with the program.
            // SAFETY: all of it is of this page, and nobody uses that, by the caller's promise.
            unsafe { libc::madvise(at.as_ptr().cast(), whole.len(), libc::MADV_DONTNEED) };
        }
    }
}

/// Returns what of a range consists of whole units.
fn whole_units(range: Range<usize>, unit: usize) -> Range<usize> {
    range.start.next_multiple_of(unit)..range.end / unit * unit
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was mapped as this, and nobody has a page any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system with pages of 4 KiB can show only what one with larger pages would be asked for.
    #[test]
    fn a_release_takes_nothing_from_neighbours() {
        for (page_bytes, system_page, is_released) in [
            (4096, 4096, true),
            (8192, 4096, true),
            (4096, 16384, false),
            (4096, 65536, false),
            (131_072, 65536, true),
        ] {
            let mut memory = Memory::new(6, page_bytes).expect("there is so much memory");
            memory.system_page = system_page.max(memory.system_page);
            for frame in 0..6 {
                // SAFETY: nobody else has the memory.
                unsafe { memory.page(FrameId(frame)).as_mut() }.fill(7);
            }
            // SAFETY: nobody uses the page.
            unsafe { memory.release(FrameId(3)) };
            for frame in 0..6 {
                // SAFETY: nobody else has the memory.
                let page = unsafe { memory.page(FrameId(frame)).as_ref() };
                let may_be_lost = frame == 3 && is_released;
                assert!(may_be_lost || page.iter().all(|byte| *byte == 7), "{page_bytes}: {frame}");
            }
        }
    }

    #[test]
    fn whole_units_lie_within_the_range_and_no_more_would() {
        for unit in [1, 4, 16] {
            for (start, end) in (0..40).flat_map(|start| (start..60).map(move |end| (start, end))) {
                let whole = whole_units(start..end, unit);
                let units = (0..60).step_by(unit).filter(|at| start <= *at && at + unit <= end);
                assert_eq!(whole.len(), units.clone().count() * unit, "{start}..{end} by {unit}");
                assert!(units.into_iter().all(|at| whole.contains(&at)));
            }
        }
    }
}
