//! The functions that those of this library have displaced: those of the program's own allocator.

use core::ffi::{c_int, c_void};

kilocore_preload_common::displaced_functions! { address_unless_looking;
    malloc: fn(usize) -> *mut c_void;
    calloc: fn(usize, usize) -> *mut c_void;
    realloc: fn(*mut c_void, usize) -> *mut c_void;
    free: fn(*mut c_void);
    memalign: fn(usize, usize) -> *mut c_void;
    aligned_alloc: fn(usize, usize) -> *mut c_void;
    posix_memalign: fn(*mut *mut c_void, usize, usize) -> c_int;
    malloc_usable_size: fn(*mut c_void) -> usize;
}
