//! Counts the threads that wait for a condition variable with one of glibc's mutexes.
//!
//! glibc counts the users of a mutex: its holder, and the threads that wait for a condition
//! variable with it. Because of these waiters, `pthread_mutex_destroy` does not destroy a mutex
//! that is free only until a waiter comes back. This library's condition variables unlock the mutex
//! as a program would do it, so they have to count the waiter themselves.

use core::ffi::c_int;

use libc::pthread_mutex_t;

/// The offset of the holder's thread id in glibc's mutex. (The kind is at 16.)
const OWNER_AT: usize = 8;
/// The offset of the number of users. The holder writes it, without atomic operations.
const USERS_AT: usize = 12;

/// Counts the calling thread among the users of `mutex` if it holds the mutex, and returns whether
/// it does.
///
/// # Safety
/// `mutex` is initialized. It is handled by glibc, and of a kind that records its owner.
pub(crate) unsafe fn join(mutex: *mut pthread_mutex_t) -> bool {
    // SAFETY: the words lie inside the object. Another thread may write the owner meanwhile, but
    // never this thread's id. So the comparison with this thread's id is right.
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
/// [`join`] has returned true, and the caller holds `mutex`.
pub(crate) unsafe fn leave(mutex: *mut pthread_mutex_t) {
    // SAFETY: only the holder writes the word, and the caller is the holder.
    unsafe { *mutex.byte_add(USERS_AT).cast::<u32>() -= 1 };
}
