//! The functions that those of this library have displaced: those of the program's own allocator.

use core::ffi::{CStr, c_int, c_void};
use core::mem::transmute;

use kilocore_preload_common::RealFunction;

/// Declares functions that return the displaced function of the same name.
macro_rules! next_functions {
    ($($name:ident: fn($($type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            /// The program's function, or `None` if there is none or it is being looked up.
            #[inline]
            pub(crate) fn $name() -> Option<unsafe extern "C" fn($($type),*) $(-> $result)?> {
                static FUNCTION: RealFunction = RealFunction::new(const {
                    match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name contains a zero byte"),
                    }
                });
                let mut address = FUNCTION.found();
                if address.is_null() {
                    address = FUNCTION.address_unless_looking()?;
                }
                type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
                // SAFETY: the function of this name has this type. If there is none, this is `None`.
                unsafe { transmute::<*mut c_void, Option<Function>>(address) }
            }
        )*

        /// Looks all of them up.
        pub(crate) fn find_all() {
            $($name();)*
        }
    };
}

next_functions! {
    malloc: fn(usize) -> *mut c_void;
    calloc: fn(usize, usize) -> *mut c_void;
    realloc: fn(*mut c_void, usize) -> *mut c_void;
    free: fn(*mut c_void);
    memalign: fn(usize, usize) -> *mut c_void;
    aligned_alloc: fn(usize, usize) -> *mut c_void;
    posix_memalign: fn(*mut *mut c_void, usize, usize) -> c_int;
    malloc_usable_size: fn(*mut c_void) -> usize;
}
