//! Keeps memory that is given back, so that every access to it is detected.
//!
//! An algorithm tells its platform of each object that it gives back
//! ([`Platform::discard`](kilocore_platform::Platform::discard)). On an [`Altered`](crate::Altered)
//! platform, after [`begin`], such memory counts as dead: any access to an atomic in it panics. For
//! that, the memory must not be used for something else meanwhile. [`Quarantine`] sees to this, as
//! the global allocator of the test.
//!
//! ```
//! #[global_allocator]
//! static MEMORY: kilocore_checking::quarantine::Quarantine =
//!     kilocore_checking::quarantine::Quarantine;
//! ```
//!
//! A checker runs all its threads on one thread of the operating system. The state of an execution
//! is therefore in variables of that thread.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// An allocator that does not free memory that was discarded after [`begin`].
#[derive(Debug)]
pub struct Quarantine;

thread_local! {
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    static DEAD: RefCell<Vec<Range<usize>>> = const { RefCell::new(Vec::new()) };
    static KEPT: RefCell<Vec<(usize, Layout)>> = const { RefCell::new(Vec::new()) };
}

/// Starts an execution: memory that is discarded from now on is dead until the next start.
pub fn begin() {
    end();
    WATCHING.set(true);
}

/// Frees all kept memory and stops watching.
pub fn end() {
    WATCHING.set(false);
    DEAD.with_borrow_mut(Vec::clear);
    let kept = KEPT.take();
    for (address, layout) in kept {
        // SAFETY: `dealloc` was called for this block with this layout, and did nothing.
        unsafe { System.dealloc(std::ptr::with_exposed_provenance_mut(address), layout) };
    }
}

/// Returns how many objects were discarded since the execution began.
#[must_use]
pub fn discarded() -> usize {
    DEAD.with_borrow(Vec::len)
}

pub(crate) fn discard(range: Range<usize>) {
    if WATCHING.get() {
        assert!(!is_dead(range.start), "memory is given back twice");
        DEAD.with_borrow_mut(|dead| dead.push(range));
    }
}

/// Whether an address lies in memory that was discarded.
pub(crate) fn is_dead(address: usize) -> bool {
    // An allocator may be called at any time, even while the list is growing and therefore
    // borrowed.
    DEAD.try_with(|dead| {
        dead.try_borrow().is_ok_and(|dead| dead.iter().any(|range| range.contains(&address)))
    })
    .unwrap_or(false)
}

// SAFETY: all calls go to the system's allocator. Some blocks are only freed later.
unsafe impl GlobalAlloc for Quarantine {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_dead(block.addr()) {
            KEPT.with_borrow_mut(|kept| kept.push((block.expose_provenance(), layout)));
            return;
        }
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(block, layout) };
    }
}
