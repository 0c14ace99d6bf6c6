//! Single pages.

use core::ffi::c_void;
use core::ptr::NonNull;

use kilocore_pages::{Contents, PagePool};

use crate::pages::{KcPages, null};

/// Returns the pool behind a pointer.
///
/// # Safety
/// The pool lives.
pub(crate) unsafe fn pool<'a>(pool: *const KcPages) -> &'a PagePool {
    // SAFETY: by the caller's promise.
    &unsafe { &*pool }.0
}

/// Returns how many pages the pool has.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_count(of: *const KcPages) -> u32 {
    // SAFETY: by the caller's promise.
    unsafe { pool(of) }.pages()
}

/// Returns whether an address is that of a page of this pool.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_owns(of: *const KcPages, page: *const c_void) -> bool {
    // SAFETY: by the caller's promise.
    let pool = unsafe { pool(of) };
    NonNull::new(page.cast_mut().cast()).is_some_and(|page| pool.owns(page))
}

/// Allocates a page of zeros.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_allocate(of: *mut KcPages) -> *mut c_void {
    // SAFETY: by the caller's promise.
    match unsafe { pool(of) }.allocate() {
        Ok(page) => page.into_raw().as_ptr().cast(),
        Err(_) => null(libc::ENOMEM),
    }
}

/// Allocates a page of anything.
///
/// # Safety
/// The pool lives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_allocate_uninit(of: *mut KcPages) -> *mut c_void {
    // SAFETY: by the caller's promise.
    match unsafe { pool(of) }.allocate_raw() {
        Ok((page, _)) => page.as_ptr().cast(),
        Err(_) => null(libc::ENOMEM),
    }
}

/// # Safety
/// The pool lives, and the page is the caller's, from this pool, with these contents. Null is allowed.
unsafe fn release(of: *mut KcPages, page: *mut c_void, contents: Contents) {
    if let Some(page) = NonNull::new(page.cast()) {
        // SAFETY: by the caller's promise.
        unsafe { pool(of).release_raw(page, contents) };
    }
}

/// Releases a page.
///
/// # Safety
/// The pool lives, and the page is the caller's and of this pool. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_release(of: *mut KcPages, page: *mut c_void) {
    // SAFETY: by the caller's promise.
    unsafe { release(of, page, Contents::Unknown) };
}

/// Releases a page of zeros.
///
/// # Safety
/// As for [`kc_pages_release`]. All bytes are zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kc_pages_release_zero(of: *mut KcPages, page: *mut c_void) {
    // SAFETY: by the caller's promise.
    unsafe { release(of, page, Contents::Zero) };
}
