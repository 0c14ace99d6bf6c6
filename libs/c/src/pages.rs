//! The page pool of [`kilocore_pages`] for C. The functions are declared and documented in
//! `include/kilocore_pages.h`.
//!
//! A pool in C is a pointer to a
//! [`PagePool`].

mod options;
mod ranges;
mod single;
mod statistics;

use kilocore_pages::PagePool;

pub use options::{KcPagesOptions, kc_pages_destroy, kc_pages_new};
pub use ranges::{kc_pages_map, kc_pages_map_uninit, kc_pages_unmap};
pub use single::{
    kc_pages_allocate, kc_pages_allocate_uninit, kc_pages_count, kc_pages_owns, kc_pages_release,
    kc_pages_release_zero,
};
pub use statistics::{
    KcPagesDecayed, KcPagesStatistics, kc_pages_decay, kc_pages_get_statistics, kc_pages_trim,
};

/// A pool; `struct kc_pages` of the header.
#[derive(Debug)]
pub struct KcPages(PagePool);

/// Fails as the header says of functions that return a pointer.
fn null<T>(code: core::ffi::c_int) -> *mut T {
    // SAFETY: this is the address of the calling thread's errno.
    unsafe { *libc::__errno_location() = code };
    core::ptr::null_mut()
}
