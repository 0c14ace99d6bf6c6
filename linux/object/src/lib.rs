// SPDX-License-Identifier: GPL-2.0
//! The algorithms of Kilocore that run inside Linux, as one object for a kernel to link.
//!
//! An algorithm is the source that ships in `libs`, on the platform [`Kernel`]. This crate adds what C
//! needs to call it: a file for each user in the kernel, and in it the functions and the layouts that the
//! C header of the same name declares. `linux/tree` has the C side.
#![no_std]
#![warn(missing_docs)]

mod finer_lru;
mod i_mmap;
mod kernel;
mod memory;
mod page_tier;
mod rwsem;
mod spin_lock;

use core::panic::PanicInfo;

pub use kernel::Kernel;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    kernel::bug()
}
