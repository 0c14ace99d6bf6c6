//! Memory that is given back stays where it is, so that whoever touches it is caught.
//!
//! An algorithm tells its platform of each object that it gives back
//! ([`Platform::discard`](kilocore_platform::Platform::discard)). On an [`Altered`](crate::Altered)
//! platform, after [`begin`], such memory counts as dead: any access to an atomic in it panics. For
//! that it must not serve for something else meanwhile, which [`Quarantine`], as the test's global
//! allocator, sees to.
//!
//! ```
//! #[global_allocator]
//! static MEMORY: kilocore_checking::quarantine::Quarantine =
//!     kilocore_checking::quarantine::Quarantine;
//! ```
//!
//! A checker runs all its threads on one thread of the operating system, so the state of an
//! execution is that thread's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// An allocator that keeps what [`begin`] has begun to watch and what was discarded since.
#[derive(Debug)]
pub struct Quarantine;

thread_local! {
    static WATCHING: Cell<bool> = const { Cell::new(false) };
    static DEAD: RefCell<Vec<Range<usize>>> = const { RefCell::new(Vec::new()) };
    static KEPT: RefCell<Vec<(usize, Layout)>> = const { RefCell::new(Vec::new()) };
}

/// Starts an execution: from now on discarded memory is dead, until the next start.
pub fn begin() {
    end();
    WATCHING.set(true);
}

/// Gives all kept memory back, and watches no more.
pub fn end() {
    WATCHING.set(false);
    DEAD.with_borrow_mut(Vec::clear);
    let kept = KEPT.take();
    for (address, layout) in kept {
        // SAFETY: `dealloc` was called for it with this layout, and did nothing.
        unsafe { System.dealloc(std::ptr::with_exposed_provenance_mut(address), layout) };
    }
}

/// How many discarded objects there are since the execution began.
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

/// Whether an address lies in memory that was given back.
pub(crate) fn is_dead(address: usize) -> bool {
    // An allocator is asked at any time, also while the list is growing.
    DEAD.try_with(|dead| {
        dead.try_borrow().is_ok_and(|dead| dead.iter().any(|range| range.contains(&address)))
    })
    .unwrap_or(false)
}

// SAFETY: everything is the system's allocator, but for blocks that are given back later.
unsafe impl GlobalAlloc for Quarantine {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_dead(block.addr()) {
            KEPT.with_borrow_mut(|kept| kept.push((block.expose_provenance(), layout)));
            return;
        }
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(block, layout) };
    }
}
