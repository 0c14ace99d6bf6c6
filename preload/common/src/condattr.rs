//! Reading the attributes of a condition variable, which programs set through functions that
//! nobody displaces.

/// The clock that time-outs of a condition variable with these attributes are measured on.
///
/// # Safety
/// `attr` is null, which stands for the defaults, or points to initialized attributes.
#[must_use]
pub unsafe fn clock(attr: *const libc::pthread_condattr_t) -> libc::clockid_t {
    let mut clock = libc::CLOCK_REALTIME;
    if !attr.is_null() {
        // SAFETY: initialized attributes by this function's contract, and an integer of ours.
        unsafe { libc::pthread_condattr_getclock(attr, &mut clock) };
    }
    clock
}

/// Whether a condition variable with these attributes is shared by processes.
///
/// # Safety
/// As for [`clock`].
#[must_use]
pub unsafe fn is_process_shared(attr: *const libc::pthread_condattr_t) -> bool {
    let mut shared = libc::PTHREAD_PROCESS_PRIVATE;
    if !attr.is_null() {
        // SAFETY: initialized attributes by this function's contract, and an integer of ours.
        unsafe { libc::pthread_condattr_getpshared(attr, &mut shared) };
    }
    shared == libc::PTHREAD_PROCESS_SHARED
}
