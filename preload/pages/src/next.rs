//! The functions that those of this library have displaced: the C library's, or those of a library that
//! comes after this one.

use core::ffi::{c_int, c_void};

/// Declares functions that return the displaced function of the same name, if there is one. Each is looked
/// up when it is first needed.
macro_rules! next_functions {
    ($($name:ident: fn($($type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            #[inline]
            pub(crate) fn $name() -> Option<unsafe extern "C" fn($($type),*) $(-> $result)?> {
                static REAL: kilocore_preload_common::RealFunction =
                    kilocore_preload_common::RealFunction::new(const {
                        match core::ffi::CStr::from_bytes_with_nul(
                            concat!(stringify!($name), "\0").as_bytes(),
                        ) {
                            Ok(name) => name,
                            Err(_) => panic!("a name contains a zero byte"),
                        }
                    });
                type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
                // SAFETY: a function of this name has this type. If there is none, the address is null,
                // which is `None`.
                unsafe { core::mem::transmute::<*mut c_void, Option<Function>>(REAL.address()) }
            }
        )*

        /// Looks them all up, so that nothing has to be looked up later: in a signal handler, for example, or
        /// while the dynamic linker's lock is held by who waits for the caller.
        pub(crate) fn find_all() {
            $($name();)*
        }
    };
}

next_functions! {
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
