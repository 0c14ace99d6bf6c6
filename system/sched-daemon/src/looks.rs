//! Looks at threads that sleep for a lock.
//!
//! The system call in which a thread sleeps tells its arguments. A futex that expects the value 2, and
//! is not known to be something else, is taken for a lock: to glibc and to Rust's standard library that
//! is a mutex that is taken and has waiters. What a thread sleeps for through a whole window is no
//! contention but idleness, as of a server without requests; and condition variables expect counters,
//! which are 2 only by chance. Locks with other words, as those of Go, are not seen.

use kilocore_proc_files::{Doing, doing};

/// The value of a mutex that has waiters.
const WAITED_FOR: u64 = 2;

/// The bits of a futex's operation that say what it does.
const OPERATION: u64 = 0x7f;

/// The word of the lock for which a thread sleeps now, if it does.
pub(crate) fn lock(pid: u32, tid: u32) -> Option<u64> {
    let Doing::Call(call) = doing(pid, tid) else { return None };
    lock_of(call.number, &call.arguments)
}

fn lock_of(number: u64, arguments: &[u64; 6]) -> Option<u64> {
    let [word, operation, value, ..] = *arguments;
    const WAIT: u64 = libc::FUTEX_WAIT as u64;
    const WAIT_BITSET: u64 = libc::FUTEX_WAIT_BITSET as u64;
    let waits = matches!(operation & OPERATION, WAIT | WAIT_BITSET);
    let is_futex = number == libc::SYS_futex as u64;
    (is_futex && waits && value & 0xffff_ffff == WAITED_FOR).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutexes_are_told_from_other_futexes() {
        let futex = libc::SYS_futex as u64;
        assert_eq!(lock_of(futex, &[0x10, 0x80, 2, 0, 0, 0]), Some(0x10));
        assert_eq!(lock_of(futex, &[0x10, 0x89, 2, 0, 0, 0]), Some(0x10));
        assert_eq!(lock_of(futex, &[0x10, 0x189, 7, 0, 0, 0]), None, "a condition variable");
        assert_eq!(lock_of(futex, &[0x10, 0x81, 2, 0, 0, 0]), None, "it wakes");
        assert_eq!(lock_of(libc::SYS_read as u64, &[0x10, 0x80, 2, 0, 0, 0]), None);
    }
}
