//! An allocator of the program whose large blocks are pages of a pool.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{self, NonNull};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::PAGE_BYTES;
use super::options::PoolOptions;
use super::pool::PagePool;
use crate::frame::{Contents, Order};

/// Serves blocks of at least a page from a [`PagePool`], and all others from another allocator.
///
/// It suits programs that allocate and free large blocks again and again. Their usual allocator gets
/// these from the system and gives them back, with a page fault for each page.
///
/// ```
/// use std::alloc::System;
/// use kilocore_pages::LargeBlocks;
///
/// // At most a thousand pages of 4 KiB at a time; blocks beyond that are the system's.
/// #[global_allocator]
/// static ALLOCATOR: LargeBlocks<System> = LargeBlocks::new(System, 1000);
///
/// let block = vec![0_u8; 100_000];
/// assert!(ALLOCATOR.pool().is_some_and(|pool| pool.owns((&block[0]).into())));
/// # drop(block);
/// # assert_eq!(ALLOCATOR.pool().map(|pool| pool.statistics().released), Some(25));
/// ```
///
/// The pool is made when the first large block is allocated. If it cannot be made, all blocks are the
/// other allocator's. Blocks of more than 2 MiB always are.
#[derive(Debug)]
pub struct LargeBlocks<G> {
    other: G,
    pages: u32,
    least_bytes: usize,
    pool: OnceLock<Option<PagePool>>,
    /// Somebody makes the pool. What that allocates is the other allocator's.
    making: AtomicBool,
}

impl<G> LargeBlocks<G> {
    /// Uses at most so many pages for blocks of four pages or more.
    #[must_use]
    pub const fn new(other: G, pages: u32) -> Self {
        Self::from_size(other, pages, 4 * PAGE_BYTES)
    }

    /// Uses at most so many pages for blocks of at least so many bytes, but not for those of less than a
    /// page.
    #[must_use]
    pub const fn from_size(other: G, pages: u32, least_bytes: usize) -> Self {
        let least_bytes = if least_bytes < PAGE_BYTES { PAGE_BYTES } else { least_bytes };
        Self { other, pages, least_bytes, pool: OnceLock::new(), making: AtomicBool::new(false) }
    }

    /// Returns the pool, if there is one yet.
    #[must_use]
    pub fn pool(&self) -> Option<&PagePool> {
        self.pool.get()?.as_ref()
    }

    /// Returns the pool, which is made if it is not there. Whoever comes while that is done does without.
    fn make_pool(&self) -> Option<&PagePool> {
        if let Some(made) = self.pool.get() {
            return made.as_ref();
        }
        // Relaxed: it only chooses the thread that makes the pool, and the cell hands the pool over. It is
        // never reset, as the pool is there then.
        if self.making.swap(true, Ordering::Relaxed) {
            return None;
        }
        let made = PagePool::new(&PoolOptions::new(self.pages)).ok();
        let _ = self.pool.set(made);
        self.pool()
    }

    /// Returns how many pages a block takes, if it is one for the pool.
    fn pages_for(&self, layout: Layout) -> Option<u32> {
        if layout.size() < self.least_bytes {
            return None;
        }
        // A run begins at a multiple of its size, rounded up to a power of two.
        let pages = layout.size().max(layout.align()).div_ceil(PAGE_BYTES);
        u32::try_from(pages).ok().filter(|pages| Order::of(*pages).is_some())
    }

    /// Allocates a block of the pool.
    fn allocate(&self, layout: Layout, zero: bool) -> Option<NonNull<u8>> {
        let pages = self.pages_for(layout)?;
        let pool = self.make_pool()?;
        if pages > 1 {
            return if zero {
                pool.allocate_run_raw(pages).ok()
            } else {
                pool.allocate_run_uninit_raw(pages).ok().map(NonNull::cast)
            };
        }
        let (page, contents) = pool.allocate_raw().ok()?;
        if zero && contents == Contents::Unknown {
            // SAFETY: the page is ours.
            unsafe { page.write_bytes(0, PAGE_BYTES) };
        }
        Some(page.cast())
    }
}

// SAFETY: a block is either the other allocator's, which keeps the promise, or consists of pages that
// nobody else has until it is freed. Whose it is, its address says: the pool's addresses are its own for
// as long as the program runs.
unsafe impl<G: GlobalAlloc> GlobalAlloc for LargeBlocks<G> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.allocate(layout, false) {
            Some(block) => block.as_ptr(),
            // SAFETY: the caller's promise.
            None => unsafe { self.other.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.allocate(layout, true) {
            Some(block) => block.as_ptr(),
            // SAFETY: the caller's promise.
            None => unsafe { self.other.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let own = NonNull::new(block).and_then(|block| {
            let pool = self.pool().filter(|pool| pool.owns(block))?;
            Some((pool, block, self.pages_for(layout)?))
        });
        match own {
            // SAFETY: by the caller's promise the block is of this layout, so that it has these pages, and
            // nobody uses it any more.
            Some((pool, block, 1)) => unsafe { pool.release_raw(block, Contents::Unknown) },
            // SAFETY: as above.
            Some((pool, block, pages)) => unsafe { pool.release_run_raw(block, pages) },
            // SAFETY: the caller's promise; it is not the pool's.
            None => unsafe { self.other.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let owns = |pool: &PagePool| NonNull::new(block).is_some_and(|block| pool.owns(block));
        let ours = self.pool().is_some_and(owns);
        // SAFETY: by the caller's promise the size is not too large with this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        if !ours && self.pages_for(new).is_none() {
            // SAFETY: the caller's promise.
            return unsafe { self.other.realloc(block, layout, size) };
        }
        if ours && self.pages_for(new) == self.pages_for(layout) {
            return block;
        }
        // SAFETY: as above; the size is not zero, by the caller's promise.
        let moved = unsafe { self.alloc(new) };
        if !moved.is_null() {
            // SAFETY: both blocks have so many bytes, and they are different ones.
            unsafe { ptr::copy_nonoverlapping(block, moved, layout.size().min(size)) };
            // SAFETY: the caller's promise.
            unsafe { self.dealloc(block, layout) };
        }
        moved
    }
}
