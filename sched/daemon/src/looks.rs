//! Looks at threads that sleep for a lock.
//!
//! The system call in which a thread sleeps tells its arguments. A futex that expects the value 2, and
//! is not known to be something else, is taken for a lock: to glibc and to Rust's standard library that
//! is a mutex that is taken and has waiters. What a thread sleeps for through a whole window is no
//! contention but idleness, as of a server without requests; and condition variables expect counters,
//! which are 2 only by chance. Locks with other words, as those of Go, are not seen, unless a recording knows
//! their addresses.

use kilocore_linux::{SyscallState, syscall_state};

/// The value of a mutex that has waiters.
const WAITED_FOR: u64 = 2;

/// The bits of a futex's operation that say what it does.
const OPERATION: u64 = 0x7f;

/// A wait in a futex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sleep {
    /// The address of the word that the futex waits on.
    pub(crate) word: u64,
    /// Whether threads sleep so for a mutex.
    pub(crate) as_mutex: bool,
}

/// What a thread sleeps for now, if it sleeps in a futex.
pub(crate) fn sleep(pid: u32, tid: u32) -> Option<Sleep> {
    let SyscallState::Call(call) = syscall_state(pid, tid) else { return None };
    sleep_of(call.number, &call.arguments)
}

/// What a system call waits for, if it waits in a futex.
pub(crate) fn sleep_of(number: u64, arguments: &[u64; 6]) -> Option<Sleep> {
    let [word, operation, value, ..] = *arguments;
    const WAIT: u64 = libc::FUTEX_WAIT as u64;
    const WAIT_BITSET: u64 = libc::FUTEX_WAIT_BITSET as u64;
    let waits = matches!(operation & OPERATION, WAIT | WAIT_BITSET);
    let is_futex = number == libc::SYS_futex as u64;
    let as_mutex = value & 0xffff_ffff == WAITED_FOR;
    (is_futex && waits).then_some(Sleep { word, as_mutex })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutexes_are_told_from_other_futexes() {
        let futex = libc::SYS_futex as u64;
        let sleeps = |as_mutex| Some(Sleep { word: 0x10, as_mutex });
        assert_eq!(sleep_of(futex, &[0x10, 0x80, 2, 0, 0, 0]), sleeps(true));
        assert_eq!(sleep_of(futex, &[0x10, 0x89, 2, 0, 0, 0]), sleeps(true));
        let condition = sleep_of(futex, &[0x10, 0x189, 7, 0, 0, 0]);
        assert_eq!(condition, sleeps(false), "a condition variable");
        assert_eq!(sleep_of(futex, &[0x10, 0x81, 2, 0, 0, 0]), None, "it wakes");
        assert_eq!(sleep_of(libc::SYS_read as u64, &[0x10, 0x80, 2, 0, 0, 0]), None);
    }
}
