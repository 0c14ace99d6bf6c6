//! The program's own allocator, which has all blocks that the pool does not serve.
//!
//! The dynamic linker finds it. In older versions of glibc the linker allocates memory for that, by
//! functions of this library. What is asked for meanwhile therefore comes from a reserve. It is never used
//! again, and only a few bytes of it are ever used.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use kilocore_preload_common::{Reserve, errno};

use crate::settings::SMALLEST_BLOCK;

kilocore_preload_common::displaced_allocator!();

/// What is given out while the program's allocator is looked for.
pub(crate) static RESERVE: Reserve<{ 64 << 10 }> = Reserve::new();

/// Blocks of fewer bytes are left to the program's allocator. At first that is all of them.
static LEAST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Returns whether a block of so many bytes is to come from the pool.
#[inline]
pub(crate) fn is_large(bytes: usize) -> bool {
    bytes >= LEAST.load(Ordering::Relaxed) // Relaxed: it changes once, and either value is right.
}

/// Serves large blocks if the program's allocator is glibc's. An allocator that the program has brought
/// along has its own ways with them, and asks for memory by `mmap`, which is served. `ours` is this library's
/// `free`.
pub(crate) fn serve_if_glibcs(ours: unsafe extern "C" fn(*mut c_void)) {
    let find = |handle, name: &CStr| {
        // SAFETY: the arguments are a handle of the linker and a C string.
        errno::preserved(|| unsafe { libc::dlsym(handle, name.as_ptr()) })
    };
    let glibcs = find(libc::RTLD_NEXT, c"__libc_free");
    // Nor if the program itself, or a library before this one, has functions of these names.
    let is_next = !glibcs.is_null() && free().is_some_and(|next| next as *mut c_void == glibcs);
    if is_next && find(libc::RTLD_DEFAULT, c"free") == ours as *mut c_void {
        LEAST.store(SMALLEST_BLOCK, Ordering::Relaxed);
    }
}
