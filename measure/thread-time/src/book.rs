//! What the account knows of threads and words while windows go by, and hands on in the end.

use std::collections::HashMap;

use kilocore_lock_profile::KernelLockWaits;

use crate::kept::{ThreadIndex, Windows, WordIndex};
use crate::state::State;
use crate::{ThreadId, Word};

/// The sums of a thread, in nanoseconds, without waits at futex words.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) running: u64,
    pub(crate) ready: u64,
    pub(crate) sleep: u64,
    pub(crate) io: u64,
    pub(crate) ends: u64,
    pub(crate) kernel_locks: u64,
    pub(crate) page_faults: u64,
    pub(crate) other: u64,
    pub(crate) unknown: u64,
    /// At futex words, all of them.
    pub(crate) futexes: u64,
    /// Timer samples in user and kernel.
    pub(crate) user_ticks: u64,
    pub(crate) kernel_ticks: u64,
}

/// What is known of a thread while windows go by.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) id: ThreadId,
    /// Whether anything was seen or said of it, other than that it woke another.
    pub(crate) seen: bool,
    pub(crate) sums: Sums,
    pub(crate) state: State,
    /// The stretch from the beginning of the window of which the window tells nothing: its end, and
    /// who ended it.
    pub(crate) before: Option<(u64, Option<ThreadIndex>)>,
}

/// How often and how long a thread waited at a word.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Waited {
    pub(crate) count: u64,
    pub(crate) ns: u64,
}

/// Everything that the account knows when it is finished.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(crate) threads: Vec<Watched>,
    pub(crate) words: Vec<Word>,
    pub(crate) waited: HashMap<(ThreadIndex, WordIndex), Waited>,
    pub(crate) windows: Windows,
    pub(crate) observed: u64,
    /// How many cores the threads may use, if that is known.
    pub(crate) cores: Option<u32>,
    pub(crate) window_count: u64,
    /// How often it was seen that a waiting thread became ready, and how often not.
    pub(crate) wakings: u64,
    pub(crate) wakings_unseen: u64,
    /// Where threads waited for the kernel's own locks, if that was seen.
    pub(crate) kernel_locks: Option<Vec<KernelLockWaits>>,
}
