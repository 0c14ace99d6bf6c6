// SPDX-License-Identifier: GPL-2.0
//! The algorithms of Kilocore that run inside Linux, as one object for a kernel to link.
//!
//! An algorithm is the source that ships in `libs`, on the platform [`Kernel`]. This crate adds what C
//! needs to call it: a file for each user in the kernel, and in it the functions and the layouts that the
//! C header of the same name declares. `linux/tree` has the C side.
#![no_std]
#![warn(missing_docs)]

mod i_mmap;
mod kernel;
mod rwsem;
mod spin_lock;

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

pub use kernel::Kernel;

/// The libraries can allocate. What of them is linked here does not, so no allocator is needed beyond this
/// one, which is removed with all that nobody calls.
struct NoMemory;

// SAFETY: it never returns memory.
unsafe impl GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static MEMORY: NoMemory = NoMemory;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    kernel::bug()
}
