//! Marking a mutex of glibc's as one that a waiter for a condition will come back to.
//!
//! glibc counts the users of a mutex: its holder, and those who wait for a condition with it. The
//! latter are what keeps `pthread_mutex_destroy` from destroying a mutex that is free only for the
//! moment. The library's own condition variables unlock the mutex as a program would, so they have
//! to count themselves.

use core::ffi::c_int;

use libc::pthread_mutex_t;

/// Where the thread that holds a mutex lies in glibc's, before the kind at 16.
const OWNER_AT: usize = 8;
/// Where the users of a mutex are counted: by its holder, without atomic operations.
const USERS_AT: usize = 12;

/// Counts the calling thread among the users of `mutex`, and is true, if it holds it.
///
/// # Safety
/// `mutex` is initialized and one of glibc's that knows its owner.
pub(crate) unsafe fn join(mutex: *mut pthread_mutex_t) -> bool {
    // SAFETY: the words lie inside the object. Another thread's number may change meanwhile, but
    // not into this thread's, so that what is read is right as far as it matters.
    unsafe {
        let owner = mutex.byte_add(OWNER_AT).cast::<c_int>().read_volatile();
        let holds = owner == libc::gettid();
        if holds {
            *mutex.byte_add(USERS_AT).cast::<u32>() += 1;
        }
        holds
    }
}

/// Takes the calling thread, which holds the mutex, out of the count.
///
/// # Safety
/// [`join`] was true, and the caller holds `mutex`.
pub(crate) unsafe fn leave(mutex: *mut pthread_mutex_t) {
    // SAFETY: only holders write the word.
    unsafe { *mutex.byte_add(USERS_AT).cast::<u32>() -= 1 };
}
