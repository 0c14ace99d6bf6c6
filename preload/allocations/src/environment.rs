//! What the recorder has put into the environment. The program does not see it.

use core::ffi::{CStr, c_char};

use kilocore_preload_common::allocation_calls::SMALLEST_BLOCK;

/// What the name of this library ends with.
const OWN_NAME: &[u8] = b"libkilocore_allocations.so";

/// Takes it out, and returns the size of the smallest blocks that are told of. Without one none are.
pub(crate) fn take() -> usize {
    // SAFETY: the program has one thread, and has not begun.
    unsafe {
        leave_preloads();
        let name: [u8; SMALLEST_BLOCK.len() + 1] = terminated();
        let name: *const c_char = name.as_ptr().cast();
        let value = libc::getenv(name);
        if value.is_null() {
            return usize::MAX;
        }
        let text = CStr::from_ptr(value).to_str();
        let bytes = text.ok().and_then(|text| text.parse().ok());
        libc::unsetenv(name);
        bytes.unwrap_or(usize::MAX)
    }
}

/// The name of the variable as a C string.
fn terminated<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..N - 1].copy_from_slice(SMALLEST_BLOCK.as_bytes());
    bytes
}

/// Takes this library out of the list of those to preload, which it is the first of.
///
/// # Safety
/// Nobody else uses the environment.
unsafe fn leave_preloads() {
    // SAFETY: C strings. What is moved is a part of the variable's value, to the value's beginning.
    unsafe {
        let name = c"LD_PRELOAD".as_ptr();
        let value = libc::getenv(name);
        if value.is_null() {
            return;
        }
        let list = CStr::from_ptr(value).to_bytes();
        let end = list.iter().position(|byte| *byte == b':').unwrap_or(list.len());
        if !list[..end].ends_with(OWN_NAME) {
            return;
        }
        match list.len().checked_sub(end + 1) {
            None | Some(0) => {
                libc::unsetenv(name);
            }
            // With the zero at its end.
            Some(rest) => core::ptr::copy(value.add(end + 1), value, rest + 1),
        }
    }
}
