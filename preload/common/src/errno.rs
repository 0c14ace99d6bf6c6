//! Leaving `errno` as it was found.

/// Runs `work` and puts the calling thread's `errno` back to what it was before.
#[inline]
pub fn preserved<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: the address of the calling thread's errno, valid as long as the thread lives.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; only this thread accesses it.
    let before = unsafe { errno.read() };
    let result = work();
    // SAFETY: as above.
    unsafe { errno.write(before) };
    result
}

/// The calling thread's `errno`.
#[inline]
#[must_use]
pub fn current() -> i32 {
    // SAFETY: the address of the calling thread's errno, valid as long as the thread lives.
    unsafe { *libc::__errno_location() }
}
