//! Keeps a thread from being cancelled in the midst of our own work.
//!
//! A thread that lets itself be cancelled at any instruction (`PTHREAD_CANCEL_ASYNCHRONOUS`) may be so in
//! these libraries. That is harmless where they own nothing. But unwinding through a function that owns
//! something ends the process, and a lock of the dynamic linker would stay taken for ever.

use core::ffi::c_int;

use crate::sanitizer::is_sanitized;

const PTHREAD_CANCEL_DISABLE: c_int = 1;
const PTHREAD_CANCEL_DEFERRED: c_int = 0;

unsafe extern "C-unwind" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
    fn pthread_setcanceltype(kind: c_int, old: *mut c_int) -> c_int;
}

/// Calls `work`, during which the calling thread is not cancelled. If it was to be, it is at the end, and
/// unwinds from here.
///
/// `work` becomes a function of its own, so that what unwinds at the end finds none that owns anything.
///
/// # Safety
/// Neither the caller nor those that called it own anything that needs dropping, up to the program's own
/// code.
#[inline]
pub unsafe fn held<R>(work: impl FnOnce() -> R) -> R {
    // A sanitizer has functions of its own of these names, which cannot be called at any time.
    if is_sanitized() {
        return apart(work);
    }
    let (mut state, mut kind) = (0, 0);
    // The state keeps waits of `work` from being ends. But a signal that is on its way looks only at the
    // kind, in the glibc of Debian 12.
    // SAFETY: the variables are ours.
    unsafe {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &raw mut state);
        pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &raw mut kind);
    }
    let result = apart(work);
    // The state comes last: who is cancelled there finds everything as it was.
    // SAFETY: the variables are ours. Nothing here needs dropping.
    unsafe {
        pthread_setcanceltype(kind, &raw mut kind);
        pthread_setcancelstate(state, &raw mut state);
    }
    result
}

#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}
