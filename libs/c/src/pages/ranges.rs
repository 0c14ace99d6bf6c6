//! Ranges of pages, in bytes.

use core::ffi::{c_int, c_void};
use core::ptr::NonNull;

use kilocore_pages::{Contents, PAGE_BYTES};

use crate::pages::single::pool;
use crate::pages::{KcPages, null};

/// The most pages of a range of the pool.
const LONGEST: usize = 512;

/// What the bytes of a range are to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Zero,
    Anything,
}

/// Maps what is too long for the pool.
fn map_by_system(bytes: usize) -> *mut c_void {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at an address that the kernel chooses harms nobody.
    let address = unsafe { libc::mmap(core::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if address == libc::MAP_FAILED { core::ptr::null_mut() } else { address }
}

/// # Safety
/// The pool lives.
unsafe fn map(of: *mut KcPages, bytes: usize, want: Want) -> *mut c_void {
    let pages = match bytes.div_ceil(PAGE_BYTES) {
        0 => return null(libc::EINVAL),
        pages if pages > LONGEST => return map_by_system(bytes),
        pages => pages as u32,
    };
    // SAFETY: by the caller's promise.
    let pool = unsafe { pool(of) };
    // Single pages are the hot tiers'.
    let first = match (pages, want) {
        (1, Want::Zero) => pool.allocate().map(|page| page.into_raw().cast()),
        (1, Want::Anything) => pool.allocate_raw().map(|(page, _)| page.cast()),
        (_, Want::Zero) => pool.allocate_run_raw(pages),
        (_, Want::Anything) => pool.allocate_run_with(pages, |_, _| {}),
    };
    first.map_or_else(|_| null(libc::ENOMEM), |first: NonNull<u8>| first.as_ptr().cast())
}

/// Allocates a range of zeros.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_map(of: *mut KcPages, bytes: usize) -> *mut c_void {
    // SAFETY: by the caller's promise.
    unsafe { map(of, bytes, Want::Zero) }
}

/// Allocates a range of anything.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_map_uninit(of: *mut KcPages, bytes: usize) -> *mut c_void {
    // SAFETY: by the caller's promise.
    unsafe { map(of, bytes, Want::Anything) }
}

/// Releases any pages of ranges.
///
/// # Safety
/// The pool lives, and all of the range is the caller's, from [`kc_pages_map`] of this pool.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_unmap(
    of: *mut KcPages,
    address: *mut c_void,
    bytes: usize,
) -> c_int {
    let start = address.addr();
    let Some(length) = bytes.checked_next_multiple_of(PAGE_BYTES) else { return -libc::EINVAL };
    let Some(end) = start.checked_add(length) else { return -libc::EINVAL };
    let Some(first) = NonNull::new(address.cast::<u8>()) else { return -libc::EINVAL };
    if bytes == 0 || !start.is_multiple_of(PAGE_BYTES) {
        return -libc::EINVAL;
    }
    // SAFETY: by the caller's promise.
    let pool = unsafe { pool(of) };
    let from = pool.first_page().addr().get();
    let to = from + pool.pages() as usize * PAGE_BYTES;
    if end <= from || to <= start {
        // SAFETY: the caller's promise: the system has mapped it for the caller.
        return match unsafe { libc::munmap(address, length) } {
            0 => 0,
            // SAFETY: this is the address of the calling thread's errno.
            _ => -unsafe { *libc::__errno_location() },
        };
    }
    let Ok(pages) = u32::try_from(length / PAGE_BYTES) else { return -libc::EINVAL };
    if start < from || to < end {
        return -libc::EINVAL;
    }
    // SAFETY: the caller's promise.
    unsafe {
        match pages {
            1 => pool.release_raw(first, Contents::Unknown),
            _ => pool.release_run_raw(first, pages),
        }
    }
    0
}
