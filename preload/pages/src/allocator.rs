//! The program's own allocator, which has all blocks that the pool does not serve.
//!
//! The dynamic linker finds it. In older versions of glibc the linker allocates memory for that, by
//! functions of this library. What is asked for meanwhile therefore comes from a reserve. It is never used
//! again, and only a few bytes of it are ever used.

use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::ffi::{CStr, c_int, c_void};
use core::mem::{MaybeUninit, transmute};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use kilocore_preload_common::{RealFunction, errno};

use crate::heap::Rest;
use crate::settings::SMALLEST_BLOCK;

pub(crate) type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
pub(crate) type Calloc = unsafe extern "C" fn(usize, usize) -> *mut c_void;
pub(crate) type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
pub(crate) type Free = unsafe extern "C" fn(*mut c_void);
pub(crate) type Align = unsafe extern "C" fn(usize, usize) -> *mut c_void;
pub(crate) type PosixAlign = unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int;
pub(crate) type Size = unsafe extern "C" fn(*mut c_void) -> usize;

/// Declares the functions and how each is called.
macro_rules! functions {
    ($($name:ident: $type:ty;)*) => {
        $(
            /// Returns the program's function, or `None` while it is being looked up.
            #[inline]
            pub(crate) fn $name() -> Option<$type> {
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
                // SAFETY: the function of this name has this type. If there is none, this is `None`.
                unsafe { transmute::<*mut c_void, Option<$type>>(address) }
            }
        )*

        /// Looks all of them up, and decides whether large blocks are served. `ours` is this library's
        /// function.
        pub(crate) fn find_all(ours: Free) {
            $($name();)*
            serve_if_glibcs(ours as *mut c_void);
        }
    };
}

functions! {
    malloc: Malloc;
    calloc: Calloc;
    realloc: Realloc;
    free: Free;
    memalign: Align;
    aligned_alloc: Align;
    posix_memalign: PosixAlign;
    malloc_usable_size: Size;
}

/// Blocks of fewer bytes are left to the program's allocator. At first that is all of them.
static LEAST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Returns whether a block of so many bytes is to come from the pool.
#[inline]
pub(crate) fn is_large(bytes: usize) -> bool {
    bytes >= LEAST.load(Ordering::Relaxed) // Relaxed: it changes once, and either value is right.
}

/// Serves large blocks if the program's allocator is glibc's. An allocator that the program has brought
/// along has its own ways with them, and asks for memory by `mmap`, which is served.
fn serve_if_glibcs(ours: *mut c_void) {
    let find = |handle, name: &CStr| {
        // SAFETY: the arguments are a handle of the linker and a C string.
        errno::preserved(|| unsafe { libc::dlsym(handle, name.as_ptr()) })
    };
    let glibcs = find(libc::RTLD_NEXT, c"__libc_free");
    // Nor if the program itself, or a library before this one, has functions of these names.
    let is_next = !glibcs.is_null() && free().is_some_and(|next| next as *mut c_void == glibcs);
    if is_next && find(libc::RTLD_DEFAULT, c"free") == ours {
        LEAST.store(SMALLEST_BLOCK, Ordering::Relaxed);
    }
}

/// The bytes of the reserve.
const RESERVE: usize = 64 << 10;

#[repr(C, align(16))]
struct Reserve(UnsafeCell<MaybeUninit<[u8; RESERVE]>>);

// SAFETY: only its address is used, and each part of it is handed out once.
unsafe impl Sync for Reserve {}

static RESERVED: Reserve = Reserve(UnsafeCell::new(MaybeUninit::zeroed()));
static REST: Rest = Rest::new();

/// Returns a block of zeros from the reserve, or null.
#[cold]
pub(crate) fn reserved(bytes: usize, align: usize) -> *mut c_void {
    let layout = Layout::from_size_align(bytes.max(1), align.max(16));
    let at = layout.ok().and_then(|layout| REST.cut(layout, RESERVE));
    at.map_or(ptr::null_mut(), |at| RESERVED.0.get().wrapping_byte_add(at).cast())
}

/// Returns how many bytes there are from a block of the reserve to the reserve's end, if it is one.
#[inline]
pub(crate) fn behind_in_reserve(block: *mut c_void) -> Option<usize> {
    let offset = block.addr().wrapping_sub(RESERVED.0.get().addr());
    (offset < RESERVE).then(|| RESERVE - offset)
}
