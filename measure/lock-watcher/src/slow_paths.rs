//! Functions that are called with a lock as their argument when it has to be waited for.
//!
//! Goroutines that wait for a mutex do not sleep in a futex: the thread goes on with another
//! goroutine. But a contended `Lock` calls a function of its own, and so where such functions are
//! in the program's file, their calls are watched in some windows. Their first argument leads to
//! the lock's word.

use kilocore_word_names::Names;

use crate::registers::Registers;

/// A function, and how far from its first argument the lock's word is.
const FUNCTIONS: [(&str, i64); 5] = [
    ("sync.(*Mutex).lockSlow", 0),
    ("internal/sync.(*Mutex).lockSlow", 0),
    // Readers and writers wait for semaphores before the count of readers.
    ("sync.runtime_SemacquireRWMutexR", 4),
    ("sync.runtime_SemacquireRWMutex", 8),
    // In older versions, both call this; it is a reader's, or else that of the mutex.
    ("sync.runtime_SemacquireMutex", 4),
];

/// The slow path of a lock in a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlowPath {
    /// Where the function begins.
    pub(crate) address: u64,
    offset: i64,
}

impl SlowPath {
    /// Those of a process.
    pub(crate) fn of(names: &Names) -> Vec<Self> {
        if !names.is_go() {
            return Vec::new();
        }
        let found = names.functions_named(&FUNCTIONS.map(|(name, _)| name));
        found
            .into_iter()
            .map(|(index, address)| Self { address, offset: FUNCTIONS[index].1 })
            .collect()
    }

    /// The address of the lock's word, by the registers at the call.
    pub(crate) fn word(self, registers: &Registers) -> u64 {
        registers.first_of_go().wrapping_add_signed(self.offset)
    }
}
