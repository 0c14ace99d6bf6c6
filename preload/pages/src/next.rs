//! The functions that those of this library have displaced: the C library's, or those of a library that
//! comes after this one.

use core::ffi::{c_int, c_void};

kilocore_preload_common::displaced_functions! { address;
    mmap: fn(*mut c_void, usize, c_int, c_int, c_int, i64) -> *mut c_void;
    munmap: fn(*mut c_void, usize) -> c_int;
    mremap: fn(*mut c_void, usize, usize, c_int, *mut c_void) -> *mut c_void;
    mprotect: fn(*mut c_void, usize, c_int) -> c_int;
    pkey_mprotect: fn(*mut c_void, usize, c_int, c_int) -> c_int;
    madvise: fn(*mut c_void, usize, c_int) -> c_int;
    posix_madvise: fn(*mut c_void, usize, c_int) -> c_int;
    mlock: fn(*const c_void, usize) -> c_int;
    mlock2: fn(*const c_void, usize, c_int) -> c_int;
    munlock: fn(*const c_void, usize) -> c_int;
    mlockall: fn(c_int) -> c_int;
    mincore: fn(*mut c_void, usize, *mut u8) -> c_int;
    msync: fn(*mut c_void, usize, c_int) -> c_int;
    vmsplice: fn(c_int, *const libc::iovec, usize, c_int) -> isize;
    setrlimit: fn(c_int, *const libc::rlimit64) -> c_int;
    setrlimit64: fn(c_int, *const libc::rlimit64) -> c_int;
    prlimit: fn(libc::pid_t, c_int, *const libc::rlimit64, *mut libc::rlimit64) -> c_int;
    prlimit64: fn(libc::pid_t, c_int, *const libc::rlimit64, *mut libc::rlimit64) -> c_int;
}
