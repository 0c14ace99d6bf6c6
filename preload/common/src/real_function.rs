//! Finding a function that was displaced.

use core::ffi::{CStr, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::errno;

/// A function of a library that comes after the calling one in the dynamic linker's search
/// order, looked up when it is first needed.
///
/// Meant for statics: it starts out valid, takes no lock and no memory, and may be used at any
/// time, before any constructor has run included. Several threads may look it up at once; they
/// find the same.
///
/// # Versions
/// glibc keeps old and new forms of some functions under one name. The condition variables of
/// x86-64 exist as `GLIBC_2.2.5`, which hold a pointer to the real thing, and `GLIBC_2.3.2`;
/// taking one for the other corrupts them. A lookup by name alone ought to give the newest but
/// did not in all versions of glibc, so a version can be asked for; where it does not exist (on
/// machines whose history began later) the default is taken.
#[derive(Debug)]
pub struct RealFunction {
    name: &'static CStr,
    version: Option<&'static CStr>,
    address: AtomicPtr<c_void>,
}

impl RealFunction {
    /// The function called `name` in its default version.
    #[must_use]
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, version: None, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// The function called `name` in the given version or, if there is none, the default one.
    #[must_use]
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Self {
        Self { name, version: Some(version), address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Its address, or null if no later library has it.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        // Relaxed: the address names code that was mapped before anybody could find it.
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() { self.look_up() } else { address }
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        let address = errno::preserved(|| {
            // SAFETY: RTLD_NEXT with C strings; both calls only read the linker's tables.
            unsafe {
                let exact = self.version.map_or(ptr::null_mut(), |version| {
                    libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr())
                });
                if exact.is_null() {
                    libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr())
                } else {
                    exact
                }
            }
        });
        self.address.store(address, Ordering::Relaxed);
        address
    }
}

/// Declares functions that call their displaced namesakes.
///
/// Each line is a signature as the C library has it, with the version to ask for behind it where
/// one matters. A call of a function that this C library lacks gives `ENOSYS` and does nothing.
/// The functions are `unsafe`, with the contract of the original, and `extern "C-unwind"` inside,
/// so that a cancelled thread can unwind through them.
///
/// ```
/// kilocore_preload_common::real_functions! {
///     /// The C library's own.
///     pub fn sched_yield() -> libc::c_int;
/// }
/// // SAFETY: takes no argument.
/// assert_eq!(unsafe { sched_yield() }, 0);
/// ```
#[macro_export]
macro_rules! real_functions {
    ($($(#[$meta:meta])* $vis:vis fn $name:ident(
        $($arg:ident: $type:ty),* $(,)?
    ) -> libc::c_int $(= $version:literal)?;)*) => {
        $(
            $(#[$meta])*
            ///
            /// # Safety
            /// That of the function it calls.
            #[inline]
            $vis unsafe fn $name($($arg: $type),*) -> libc::c_int {
                static REAL: $crate::RealFunction =
                    $crate::real_functions!(@real $name $($version)?);
                let address = REAL.address();
                if address.is_null() {
                    return libc::ENOSYS;
                }
                type Function = unsafe extern "C-unwind" fn($($type),*) -> libc::c_int;
                // SAFETY: the C library has a function of this name with this signature.
                let function = unsafe { core::mem::transmute::<*mut _, Function>(address) };
                // SAFETY: the caller keeps the original's contract.
                unsafe { function($($arg),*) }
            }
        )*
    };
    (@real $name:ident) => {
        $crate::RealFunction::new($crate::real_functions!(@c_str stringify!($name)))
    };
    (@real $name:ident $version:literal) => {
        $crate::RealFunction::versioned(
            $crate::real_functions!(@c_str stringify!($name)),
            $crate::real_functions!(@c_str $version),
        )
    };
    (@c_str $text:expr) => {
        const {
            match core::ffi::CStr::from_bytes_with_nul(concat!($text, "\0").as_bytes()) {
                Ok(text) => text,
                Err(_) => panic!("a name contains a zero byte"),
            }
        }
    };
}
