//! Reads the program's environment at any time, even before the C library has begun.

use core::ffi::{CStr, c_char, c_void};

unsafe extern "C" {
    static environ: *const *const c_char;
    /// Where the program's stack begins: with the number of arguments, the arguments, a null
    /// pointer, and then the environment. The dynamic linker sets this before anything runs, and
    /// nobody changes it.
    static __libc_stack_end: *const c_void;
}

/// Returns the value of an environment variable if it is set and not empty. The environment is an
/// array of strings, for example:
///
/// ```text
/// PATH=/usr/bin:/bin
/// KILOCORE_LOCK=mcs
/// ```
///
/// This takes no lock and no memory. Functions of the program that are named in `.preinit_array` run
/// before the C library knows the environment. Then this reads what the kernel has put on the stack.
///
/// # Safety
/// No thread changes the environment meanwhile. The value is used only while nobody does.
#[must_use]
pub unsafe fn value_of(variable: &str) -> Option<&'static [u8]> {
    // SAFETY: this is the C library's pointer to the environment. It is null or points to an array
    // of strings that ends with null. The other array is of the same form.
    unsafe {
        let mut entry = if environ.is_null() { at_start() } else { environ };
        if entry.is_null() {
            return None;
        }
        while !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            if let Some(value) = text.strip_prefix(variable.as_bytes())
                && let Some(value) = value.strip_prefix(b"=")
            {
                return (!value.is_empty()).then_some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// Returns the environment with which the program was started.
fn at_start() -> *const *const c_char {
    // SAFETY: the dynamic linker has set the variable. The stack has the form that the comment at
    // `__libc_stack_end` describes, and it is never unmapped.
    unsafe {
        let count = __libc_stack_end.cast::<usize>();
        if count.is_null() {
            return core::ptr::null();
        }
        count.cast::<*const c_char>().add(1 + *count + 1)
    }
}
