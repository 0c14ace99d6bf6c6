//! Sleeping until a word changes, and waking who sleeps, across processes.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Sleeps while the word has this value, but no longer than so long.
pub(crate) fn wait(word: &AtomicU32, value: u32, most: Duration) {
    let time = libc::timespec {
        tv_sec: most.as_secs() as libc::time_t,
        tv_nsec: most.subsec_nanos().into(),
    };
    // SAFETY: a word and a time that live meanwhile. Why it wakes does not matter.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time);
    }
}

/// Wakes everybody who sleeps on the word.
pub(crate) fn wake(word: &AtomicU32) {
    // SAFETY: only the word's address is used.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
