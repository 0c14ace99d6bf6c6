// SPDX-License-Identifier: GPL-2.0
//! The kernel's memory, for what the libraries allocate: tables, when an algorithm is set up. Who allocates
//! may sleep, and goes on without the algorithm if there is no memory.

use core::alloc::{GlobalAlloc, Layout};

unsafe extern "C" {
    fn kilocore_alloc(bytes: usize, align: usize) -> *mut u8;
    fn kilocore_free(memory: *mut u8);
}

struct Memory;

// SAFETY: memory is the kernel's, as large and aligned as was asked for, or null.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size and alignment may be asked for.
        unsafe { kilocore_alloc(layout.size(), layout.align()) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, _: Layout) {
        // SAFETY: it came from `kilocore_alloc`.
        unsafe { kilocore_free(memory) }
    }
}

#[global_allocator]
static MEMORY: Memory = Memory;
