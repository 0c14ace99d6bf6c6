//! Finds the function that a preloaded function has displaced.
//!
//! The dynamic linker finds it, and takes its lock for that. A thread that is in `dlopen` holds this
//! lock, and a constructor that runs there may wait for another thread. If that thread's first call
//! of a function looked the function up, both would wait for ever. A look-up also erases what
//! `dlerror` was about to tell the program. So a library looks up all its functions when it starts,
//! by [`RealFunction::find_all`]. If one of them is called even earlier, that call looks up all.

use core::ffi::{CStr, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use crate::{cancellation, errno};

/// How many threads look a function up of which an allocator consists.
static LOOKING: AtomicU8 = AtomicU8::new(0);

/// Stands for the address of a function that no later library has. No function has this address.
const ABSENT: *mut c_void = ptr::without_provenance_mut(1);

/// A function of a library that comes after the calling library in the dynamic linker's search
/// order. It is looked up by [`find_all`](Self::find_all), or when it is first needed.
///
/// This type is meant for statics that [`real_function!`](crate::real_function) declares. It needs
/// no lock and no memory, and may be used at any time, even before any constructor has run. If
/// several threads look up the function at once, all of them find the same one.
///
/// # Versions
/// glibc has old and new forms of some functions under one name. For example, the functions of
/// condition variables exist on x86-64 in version `GLIBC_2.2.5`, where a variable contains a
/// pointer to the actual one, and in version `GLIBC_2.3.2`. Using the wrong version corrupts the
/// variable. A lookup by name alone should find the newest version, but in some versions of glibc
/// it did not. So a version can be given. If that version does not exist, as on architectures that
/// glibc supported only later, the default version is used. So it is if a library before glibc has a
/// function of this name, which then is the next one.
#[derive(Debug)]
pub struct RealFunction {
    name: &'static CStr,
    version: Option<&'static CStr>,
    /// Null until the function was looked up, and then its address or [`ABSENT`].
    address: AtomicPtr<c_void>,
}

// The static linker would export its two symbols.
core::arch::global_asm!(".hidden __start_kilocore_real", ".hidden __stop_kilocore_real");

unsafe extern "C" {
    // The static linker defines these two symbols: where the section begins into which
    // `real_function!` puts its statics, and where it ends.
    #[link_name = "__start_kilocore_real"]
    static FIRST: u8;
    #[link_name = "__stop_kilocore_real"]
    static BEHIND_LAST: u8;
}

/// Is in the section, too, so that there is one. A program has no function without a name.
#[unsafe(link_section = "kilocore_real")]
static ANCHOR: RealFunction = RealFunction::new(c"");

/// Returns all functions of the calling library that [`real_function!`](crate::real_function) has
/// declared.
fn declared() -> impl Iterator<Item = &'static RealFunction> {
    let count = (&raw const BEHIND_LAST).addr().wrapping_sub((&raw const FIRST).addr())
        / size_of::<RealFunction>();
    // SAFETY: everything in the section is a static of this type, by the contract of
    // `real_function!`. Its size is a multiple of its alignment, so the static linker puts them side
    // by side, from the one symbol to the other.
    let all =
        unsafe { core::slice::from_raw_parts((&raw const FIRST).cast::<RealFunction>(), count) };
    all.iter().filter(|function| !ptr::eq(*function, &raw const ANCHOR))
}

impl RealFunction {
    /// Returns the function called `name` in its default version.
    #[must_use]
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, version: None, address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the function called `name` in the given version. If that does not exist, it is the
    /// function in its default version.
    #[must_use]
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Self {
        Self { name, version: Some(version), address: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Looks up all functions of the calling library that were not looked up yet. A library calls
    /// this in its constructor.
    pub fn find_all() {
        for function in declared() {
            function.settled();
        }
    }

    /// Returns the function's address, or null if no later library has the function.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        // Relaxed: the code at the address was mapped before any thread could find the address.
        let address = self.address.load(Ordering::Relaxed);
        if address.addr() > ABSENT.addr() { address } else { self.not_found_yet() }
    }

    /// Returns the function's address, or `lacking` if no later library has the function.
    #[inline]
    pub fn address_or(&self, lacking: *mut c_void) -> *mut c_void {
        // Relaxed: as in `address`.
        let address = self.address.load(Ordering::Relaxed);
        if address.addr() > ABSENT.addr() { address } else { self.not_found_yet_or(lacking) }
    }

    /// Returns the function's address if it has been looked up before and was found, or null. Unlike
    /// [`address`](Self::address) this never calls the dynamic linker.
    #[inline]
    fn found(&self) -> *mut c_void {
        // Relaxed: as in `address`.
        or_null(self.address.load(Ordering::Relaxed))
    }

    /// Returns the function's address, or null if no later library has the function, and while any thread
    /// looks a function up in this way: looking up may allocate, and whoever stands in for an allocator has
    /// to serve that from memory of its own.
    #[inline]
    pub fn address_unless_looking(&self) -> *mut c_void {
        let address = self.found();
        if address.is_null() { self.looked_up_once() } else { address }
    }

    #[cold]
    fn looked_up_once(&self) -> *mut c_void {
        // Relaxed: a thread sees what it did itself. Another one that allocates at this moment is served
        // from such memory too, which does no harm.
        if LOOKING.load(Ordering::Relaxed) > 0 {
            return ptr::null_mut();
        }
        LOOKING.fetch_add(1, Ordering::Relaxed);
        let address = self.address();
        LOOKING.fetch_sub(1, Ordering::Relaxed);
        address
    }

    #[cold]
    #[inline(never)]
    fn not_found_yet_or(&self, lacking: *mut c_void) -> *mut c_void {
        let address = self.not_found_yet();
        if address.is_null() { lacking } else { address }
    }

    #[cold]
    fn not_found_yet(&self) -> *mut c_void {
        if self.address.load(Ordering::Relaxed).is_null() {
            // In old versions of glibc a look-up allocates memory, and the program's allocator may
            // call a function of this library. So the function that is needed comes first: each such
            // call inside a call then has one function less to look up, and this comes to an end.
            self.settled();
            Self::find_all();
        }
        self.found()
    }

    /// Looks the function up if that has not been done yet.
    fn settled(&self) {
        if self.address.load(Ordering::Relaxed).is_null() {
            // The linker's lock must not stay taken.
            // SAFETY: looking up is the first that a function does that is called by the program.
            let address = unsafe { cancellation::held(|| errno::preserved(|| self.look_up())) };
            self.address.store(if address.is_null() { ABSENT } else { address }, Ordering::Relaxed);
        }
    }

    fn look_up(&self) -> *mut c_void {
        // SAFETY: the arguments are RTLD_NEXT and C strings. Both calls only read the linker's
        // tables.
        unsafe {
            let by_name = libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr());
            let exact = self.version.map_or(ptr::null_mut(), |version| {
                libc::dlvsym(libc::RTLD_NEXT, self.name.as_ptr(), version.as_ptr())
            });
            // A library before the C library may have a function of this name without a version,
            // such as the runtime of a sanitizer.
            let is_wrapped = !by_name.is_null() && file_of(by_name) != file_of(exact);
            if exact.is_null() || is_wrapped { by_name } else { exact }
        }
    }
}

/// Returns where the file begins that contains an address.
fn file_of(address: *mut c_void) -> *mut c_void {
    let mut info = core::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the variable is ours, and it is written if the file is found.
    unsafe {
        if libc::dladdr(address, info.as_mut_ptr()) == 0 {
            return ptr::null_mut();
        }
        info.assume_init().dli_fbase
    }
}

/// Returns an address as it is, and null for [`ABSENT`].
#[inline]
fn or_null(address: *mut c_void) -> *mut c_void {
    if address == ABSENT { ptr::null_mut() } else { address }
}

/// Declares a [`RealFunction`] and returns a reference to it: `real_function!(c"_exit")`, or
/// `real_function!(c"pthread_cond_wait", c"GLIBC_2.3.2")` for a version of it. The library that
/// contains the declaration finds it among [all its functions](RealFunction::find_all).
#[macro_export]
macro_rules! real_function {
    (@static $real:expr) => {{
        // Nothing but statics of this type is in the section.
        #[unsafe(link_section = "kilocore_real")]
        static REAL: $crate::RealFunction = $real;
        &REAL
    }};
    ($name:expr) => {
        $crate::real_function!(@static $crate::RealFunction::new($name))
    };
    ($name:expr, $version:expr $(,)?) => {
        $crate::real_function!(@static $crate::RealFunction::versioned($name, $version))
    };
}

/// Declares functions that call the displaced functions of the same names.
///
/// Each declaration is a signature as in the C library. If the version matters, it follows the
/// signature: `= "GLIBC_2.3.2"`. Calling a function that this C library lacks does nothing and
/// returns `ENOSYS`. The functions are `unsafe` and have the contract of the original. They call
/// the original as `extern "C-unwind"`, so that a cancelled thread can unwind through them.
///
/// ```
/// kilocore_preload_common::real_functions! {
///     /// The C library's own function.
///     pub fn sched_yield() -> libc::c_int;
/// }
/// // SAFETY: the function has no arguments.
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
            /// The caller keeps the contract of the C library's function.
            #[inline]
            $vis unsafe fn $name($($arg: $type),*) -> libc::c_int {
                type Function = unsafe extern "C-unwind" fn($($type),*) -> libc::c_int;
                /// Stands for the function where there is none.
                unsafe extern "C-unwind" fn lacking($(_: $type),*) -> libc::c_int {
                    libc::ENOSYS
                }
                let lacking: Function = lacking;
                let address = $crate::real_functions!(@real $name $($version)?)
                    .address_or(lacking as *mut core::ffi::c_void);
                // SAFETY: the C library has a function of this name with this signature, and so has
                // what stands for it.
                let function = unsafe { core::mem::transmute::<*mut _, Function>(address) };
                // SAFETY: by the caller's promise.
                unsafe { function($($arg),*) }
            }
        )*
    };
    (@real $name:ident) => {
        $crate::real_function!($crate::real_functions!(@c_str stringify!($name)))
    };
    (@real $name:ident $version:literal) => {
        $crate::real_function!(
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

/// Declares functions that return the displaced functions of the same names, if there are any, and
/// `find_all`, which looks all of them up: so nothing has to be looked up later, in a signal handler, for
/// example, or while the dynamic linker's lock is held by who waits for the caller.
///
/// The word before the semicolon is the function of [`RealFunction`] that finds them: `address`, or
/// `address_unless_looking` for the functions of an allocator.
///
/// ```
/// kilocore_preload_common::displaced_functions! { address;
///     labs: fn(i64) -> i64;
/// }
/// find_all();
/// // SAFETY: the function takes any number but the smallest.
/// assert_eq!(labs().map(|labs| unsafe { labs(-3) }), Some(3));
/// ```
#[macro_export]
macro_rules! displaced_functions {
    ($find:ident; $($name:ident: fn($($type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            /// The displaced function of this name, or `None` if there is none or it is being looked up.
            #[inline]
            pub(crate) fn $name() -> Option<unsafe extern "C" fn($($type),*) $(-> $result)?> {
                static REAL: $crate::RealFunction =
                    $crate::RealFunction::new($crate::real_functions!(@c_str stringify!($name)));
                type Function = unsafe extern "C" fn($($type),*) $(-> $result)?;
                // SAFETY: a function of this name has this type. If there is none, the address is null,
                // which is `None`.
                unsafe { core::mem::transmute::<*mut _, Option<Function>>(REAL.$find()) }
            }
        )*

        /// Looks all of them up.
        pub(crate) fn find_all() {
            $($name();)*
        }
    };
}

/// [`displaced_functions!`](crate::displaced_functions) of an allocator: all by which a program gets
/// blocks, gives them back and asks for their size.
#[macro_export]
macro_rules! displaced_allocator {
    () => {
        $crate::displaced_functions! { address_unless_looking;
            malloc: fn(usize) -> *mut ::core::ffi::c_void;
            calloc: fn(usize, usize) -> *mut ::core::ffi::c_void;
            realloc: fn(*mut ::core::ffi::c_void, usize) -> *mut ::core::ffi::c_void;
            free: fn(*mut ::core::ffi::c_void);
            memalign: fn(usize, usize) -> *mut ::core::ffi::c_void;
            aligned_alloc: fn(usize, usize) -> *mut ::core::ffi::c_void;
            posix_memalign: fn(*mut *mut ::core::ffi::c_void, usize, usize) -> ::core::ffi::c_int;
            malloc_usable_size: fn(*mut ::core::ffi::c_void) -> usize;
        }
    };
}
