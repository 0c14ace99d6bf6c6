//! Reads the attributes of a condition variable. Programs set them through glibc's own functions,
//! which are not displaced.

/// Returns the clock on which the time-outs of a condition variable with these attributes are
/// measured.
///
/// # Safety
/// `attr` is null, which stands for the default attributes, or points to initialized attributes.
#[must_use]
pub unsafe fn clock(attr: *const libc::pthread_condattr_t) -> libc::clockid_t {
    let mut clock = libc::CLOCK_REALTIME;
    if !attr.is_null() {
        // SAFETY: the attributes are initialized, by the caller's promise, and the integer is ours.
        unsafe { libc::pthread_condattr_getclock(attr, &mut clock) };
    }
    clock
}

/// Returns whether a condition variable with these attributes may be shared by processes.
///
/// # Safety
/// As for [`clock`].
#[must_use]
pub unsafe fn is_process_shared(attr: *const libc::pthread_condattr_t) -> bool {
    let mut shared = libc::PTHREAD_PROCESS_PRIVATE;
    if !attr.is_null() {
        // SAFETY: the attributes are initialized, by the caller's promise, and the integer is ours.
        unsafe { libc::pthread_condattr_getpshared(attr, &mut shared) };
    }
    shared == libc::PTHREAD_PROCESS_SHARED
}
