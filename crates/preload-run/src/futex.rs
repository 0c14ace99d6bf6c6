//! The futex system call on words of this process. `errno` stays as it was.

use core::ptr;
use core::sync::atomic::AtomicU32;

use kilocore_interpose::errno;

/// Sleeps while `word` holds `expected`; may wake for no reason.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    errno::preserved(|| {
        // SAFETY: a live, aligned word for the whole call; no time-out.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                expected,
                ptr::null::<libc::timespec>(),
            )
        };
    });
}

/// Wakes one thread that sleeps on `word`. The word may be gone already: it is not read, and at
/// worst a later user of its address wakes for no reason.
pub(crate) fn wake_one(word: *const AtomicU32) {
    errno::preserved(|| {
        // SAFETY: FUTEX_WAKE uses the address as a name; an unmapped one fails harmlessly.
        unsafe {
            libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1)
        };
    });
}
