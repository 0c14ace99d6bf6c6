//! Keeps `errno` as the program left it.

/// Calls `work`, and then sets the calling thread's `errno` to the value that it had before.
#[inline]
pub fn preserved<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: this is the address of the calling thread's errno. It is valid while the thread
    // lives.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; only this thread accesses it.
    let before = unsafe { errno.read() };
    let result = work();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}

/// Returns the calling thread's `errno`.
#[inline]
#[must_use]
pub fn current() -> i32 {
    // SAFETY: this is the address of the calling thread's errno. It is valid while the thread
    // lives.
    unsafe { *libc::__errno_location() }
}

/// Sets the calling thread's `errno`.
pub fn set(code: i32) {
    // SAFETY: this is the address of the calling thread's errno.
    unsafe { *libc::__errno_location() = code };
}
