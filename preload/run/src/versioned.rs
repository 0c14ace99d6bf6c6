//! The function `dlvsym`, by which a program finds a function in a version that it names.
//!
//! The functions of this library have no versions, so `dlvsym` passes over them and finds the C
//! library's. A mutex that is locked here and that glibc's condition variables unlock is never
//! unlocked. So a program that asks for a version of a function for which there is one here gets
//! what `dlsym` finds: this library's, or that of a library that comes before this one.
//!
//! # Which function comes next
//! `RTLD_NEXT` stands for what comes after the caller in the search order. The linker knows the
//! caller by the return address. So the function here is a few instructions, which choose between
//! the linker's two functions and jump there. A caller that comes after this library is looking for
//! the C library's functions, and for their versions.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;

use kilocore_preload_common::real_function;

use crate::{mutex_choice, rwlock_choice};

/// Finds a function in a version.
///
/// # Safety
/// The contract is that of the glibc function.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
) -> *mut c_void {
    // At the entry, the stack is 8 bytes off a multiple of 16, and the three pushes make it one.
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "push rdx",
        "mov rdx, [rsp + 24]",
        "call {choose}",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        choose = sym choose,
    )
}

/// Finds a function in a version.
///
/// # Safety
/// The contract is that of the glibc function.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn dlvsym(
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
) -> *mut c_void {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-48]!",
        "stp x0, x1, [sp, #16]",
        "str x2, [sp, #32]",
        "mov x2, x30",
        "bl {choose}",
        "mov x16, x0",
        "ldp x0, x1, [sp, #16]",
        "ldr x2, [sp, #32]",
        "ldp x29, x30, [sp], #48",
        "br x16",
        choose = sym choose,
    )
}

/// Returns the address of the linker's function that is to answer: `dlvsym`, or `dlsym`, which does
/// not look at its third argument.
extern "C" fn choose(
    handle: *mut c_void,
    name: *const c_char,
    caller: *const c_void,
) -> *mut c_void {
    // SAFETY: the program passes a C string.
    let is_here = is_replaced(unsafe { CStr::from_ptr(name) }.to_bytes())
        && (handle == libc::RTLD_DEFAULT
            || handle == libc::RTLD_NEXT && comes_before_this_library(caller));
    let by_version = real_function!(c"dlvsym").address();
    if is_here || by_version.is_null() {
        libc::dlsym as *const () as *mut c_void
    } else {
        by_version
    }
}

/// Returns whether this library has the functions of this kind, and replaces what they do. Functions
/// of that kind that are not here have one version only.
fn is_replaced(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"__").unwrap_or(name);
    let is = |kind: &[u8]| name.starts_with(kind);
    (is(b"pthread_mutex_") || is(b"pthread_cond_")) && mutex_choice::replaces()
        || is(b"pthread_rwlock_") && rwlock_choice::replaces()
}

/// What the linker knows of a file, as `link.h` describes it.
#[repr(C)]
struct LinkMap {
    address: usize,
    name: *const c_char,
    dynamic: *const c_void,
    next: *const LinkMap,
    previous: *const LinkMap,
}

/// Asks [`dladdr1`] for a [`LinkMap`].
const RTLD_DL_LINKMAP: c_int = 2;

unsafe extern "C" {
    fn dladdr1(
        address: *const c_void,
        info: *mut libc::Dl_info,
        extra: *mut *const LinkMap,
        flags: c_int,
    ) -> c_int;
}

/// Returns whether the code at an address belongs to a file that comes before this library in the
/// linker's search order.
fn comes_before_this_library(code: *const c_void) -> bool {
    let file_of = |address: *const c_void| {
        let (mut info, mut file) = (core::mem::MaybeUninit::uninit(), ptr::null());
        // SAFETY: the variables are ours.
        let found =
            unsafe { dladdr1(address, info.as_mut_ptr(), &raw mut file, RTLD_DL_LINKMAP) } != 0;
        if found { file } else { ptr::null() }
    };
    let caller = file_of(code);
    let mut file = file_of(ptr::from_ref(&OWN).cast());
    // The linker's list has the order of the search. What comes before this library was there when
    // the program started, and stays.
    while !file.is_null() {
        // SAFETY: this is an element of the linker's list.
        file = unsafe { (*file).previous };
        if file == caller && !file.is_null() {
            return true;
        }
    }
    false
}

/// Lies in this library.
static OWN: u8 = 0;
