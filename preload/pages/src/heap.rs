//! Memory for the pool's own tables.
//!
//! It cannot come from `malloc`, since this library is what `malloc` calls. The tables are made once and
//! stay, so blocks are cut off a reserve one after the other, and nothing is used again. Large tables
//! get a mapping of their own, of which only the parts that are used take memory.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr;

use kilocore_preload_common::Reserve;

use crate::system;

/// The bytes of the reserve. They take addresses, and memory only where they are used.
const RESERVE: usize = 256 << 10;

/// Blocks of so many bytes get a mapping of their own.
const LARGE: usize = 64 << 10;

/// The largest alignment that can be had: that of a mapping.
const PAGE: usize = 4096;

/// An allocator whose memory does not come from the program's allocator.
pub(crate) struct Heap(Reserve<RESERVE>);

impl Heap {
    pub(crate) const fn new() -> Self {
        Self(Reserve::new())
    }
}

// SAFETY: each block is a part of the reserve or of the address space that nobody else gets, with the
// alignment that was asked for.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > PAGE {
            return ptr::null_mut(); // nothing here asks for that
        }
        if layout.size() < LARGE
            && let Some(block) = self.0.cut(layout)
        {
            return block;
        }
        system::map(layout.size()).map_or(ptr::null_mut(), |block| block.as_ptr())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise. No block is used twice, so each is zero.
        unsafe { self.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() >= LARGE {
            // SAFETY: `alloc` has mapped the block with this size, and it is no longer used.
            unsafe { system::unmap(block.addr(), layout.size()) };
        }
    }
}
