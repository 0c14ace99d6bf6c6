//! What the account knows of threads and words while windows go by, and hands on in the end.

use std::collections::HashMap;

use kilocore_figures::Nanoseconds;

use crate::{KernelLockWaits, SpinPlace};

use crate::thread_account::kept::{ThreadIndex, Windows, WordIndex};
use crate::thread_account::state::State;
use crate::thread_account::{ThreadId, Word};

/// The sums of a thread, without waits at futex words.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sums {
    pub(crate) running: Nanoseconds,
    pub(crate) ready: Nanoseconds,
    pub(crate) sleep: Nanoseconds,
    pub(crate) io: Nanoseconds,
    pub(crate) ends: Nanoseconds,
    pub(crate) kernel_locks: Nanoseconds,
    pub(crate) page_faults: Nanoseconds,
    pub(crate) other: Nanoseconds,
    pub(crate) unknown: Nanoseconds,
    /// At futex words, all of them.
    pub(crate) futexes: Nanoseconds,
    /// Timer samples in user, but for loops that wait for another thread, in these, and in the kernel.
    pub(crate) user_ticks: u64,
    pub(crate) spin_ticks: u64,
    pub(crate) kernel_ticks: u64,
}

impl Sums {
    /// The part of the time on a core in which the thread spun, by its samples.
    pub(crate) fn spinning(&self) -> Nanoseconds {
        let ticks = [self.user_ticks, self.spin_ticks, self.kernel_ticks];
        part(self.running, self.spin_ticks, ticks.into_iter().sum())
    }
}

/// The part of a time on which so many of all samples fell.
pub(crate) fn part(time: Nanoseconds, samples: u64, all: u64) -> Nanoseconds {
    let part = (u128::from(time.0) * u128::from(samples)).checked_div(u128::from(all));
    Nanoseconds(part.unwrap_or(0) as u64)
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
    pub(crate) waited: Nanoseconds,
}

/// Everything that the account knows when it is finished.
#[derive(Debug, Default)]
pub(crate) struct AccountTotals {
    pub(crate) threads: Vec<Watched>,
    pub(crate) words: Vec<Word>,
    pub(crate) waited: HashMap<(ThreadIndex, WordIndex), Waited>,
    pub(crate) windows: Windows,
    pub(crate) observed: Nanoseconds,
    /// How many cores the threads may use, if that is known.
    pub(crate) cores: Option<u32>,
    pub(crate) window_count: u64,
    /// How often it was seen that a waiting thread became ready, and how often not.
    pub(crate) wakings: u64,
    pub(crate) wakings_unseen: u64,
    /// Where threads waited for the kernel's own locks, if that was seen.
    pub(crate) kernel_locks: Option<Vec<KernelLockWaits>>,
    /// Where threads were found spinning for others.
    pub(crate) spins: Vec<SpinPlace>,
}
