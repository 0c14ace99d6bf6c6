//! An allocator that refuses memory to a thread that asks for that.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// How many more allocations succeed, and how many are live of those that were made meanwhile.
    static STATE: Cell<Option<(u32, i32)>> = const { Cell::new(None) };
}

struct Scarce;

// SAFETY: memory is the system's, or null.
unsafe impl GlobalAlloc for Scarce {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match STATE.get() {
            Some((0, _)) => return std::ptr::null_mut(),
            Some((more, live)) => STATE.set(Some((more - 1, live + 1))),
            None => {}
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if let Some((more, live)) = STATE.get() {
            STATE.set(Some((more, live - 1)));
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Scarce = Scarce;

/// Runs `work`, which gets `succeeding` allocations and then no more. Returns what it returned, and how many
/// of its allocations are live.
pub(crate) fn with<R>(succeeding: u32, work: impl FnOnce() -> R) -> (R, i32) {
    STATE.set(Some((succeeding, 0)));
    let result = work();
    let (_, live) = STATE.take().expect("it was set above");
    (result, live)
}
