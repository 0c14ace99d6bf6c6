//! What all cores together have done, and what they waited for.

use std::collections::HashMap;

use kilocore_kernel_path::Path;
use serde::{Deserialize, Serialize};

/// A lock that cores waited for, or a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limiter {
    /// Its name in the recording.
    pub name: String,
    /// Whether it is a lock.
    pub is_lock: bool,
    /// The share of all cores' time that they waited for it, or that accesses to it took.
    pub share: f64,
}

/// How often trees were used in all, while operations were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TreeUse {
    /// Locks of trees that were taken.
    pub locked: u64,
    /// Insertions that were logged.
    pub logged: u64,
    /// Of these, those that found the lock held.
    pub held: u64,
    /// Insertions that their removals cancelled.
    pub cancelled: u64,
    /// Insertions that the log put into a tree.
    pub applied: u64,
}

/// What all cores together have done while operations were counted. It is no part of what is simulated.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) operations: u64,
    pub(crate) trees: TreeUse,
    /// For how long cores waited for each recorded lock, and how long accesses to each recorded line took, in
    /// cycles.
    pub(crate) locks: Vec<u64>,
    pub(crate) lines: Vec<u64>,
    /// The cores' time, and of this the time in which they had something to do.
    pub(crate) elapsed: u64,
    pub(crate) busy: u64,
}

/// The most limiters that a point has.
const MOST_LIMITERS: usize = 10;

impl Tally {
    /// What cores waited for most, the most first.
    pub(crate) fn limiters(&self, path: &Path) -> Vec<Limiter> {
        // Several lines of one structure have one name, and so have the locks of several files.
        let mut by_name: HashMap<(&str, bool), u64> = HashMap::new();
        for (lock, time) in path.locks.iter().zip(&self.locks) {
            *by_name.entry((&lock.place.name, true)).or_default() += time;
        }
        for (line, time) in path.lines.iter().zip(&self.lines) {
            *by_name.entry((&line.name, false)).or_default() += time;
        }
        let mut all: Vec<_> = by_name.into_iter().filter(|(_, time)| *time > 0).collect();
        all.sort_by_key(|&(key, time)| (std::cmp::Reverse(time), key));
        let limiter = |((name, is_lock), time): ((&str, bool), u64)| Limiter {
            name: name.to_owned(),
            is_lock,
            share: time as f64 / self.elapsed.max(1) as f64,
        };
        all.into_iter().take(MOST_LIMITERS).map(limiter).collect()
    }
}
