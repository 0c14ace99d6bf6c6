//! What this library has done, beside what the pool itself counts.

use core::sync::atomic::{AtomicU64, Ordering};

/// The counts. Except for the first two they are of pages.
#[derive(Debug)]
pub(crate) struct Counts {
    /// Mappings that were served.
    pub(crate) mappings: AtomicU64,
    /// Blocks of `malloc` that were served.
    pub(crate) blocks: AtomicU64,
    /// Requests that the pool had no room for.
    pub(crate) full: AtomicU64,
    /// Pages that had to be zero and were.
    pub(crate) zero: AtomicU64,
    /// Pages that had to be zero and were cleared.
    pub(crate) cleared: AtomicU64,
    /// Pages that were given back to the system as they were unmapped, or to measure how many are touched.
    pub(crate) discarded: AtomicU64,
    /// Pages that were given back to the system because they were idle.
    pub(crate) decayed: AtomicU64,
    /// Pages that got a new mapping, because the program had altered theirs.
    pub(crate) replaced: AtomicU64,
    /// Pages that could get no new mapping.
    pub(crate) lost: AtomicU64,
}

impl Counts {
    pub(crate) const fn new() -> Self {
        Self {
            mappings: AtomicU64::new(0),
            blocks: AtomicU64::new(0),
            full: AtomicU64::new(0),
            zero: AtomicU64::new(0),
            cleared: AtomicU64::new(0),
            discarded: AtomicU64::new(0),
            decayed: AtomicU64::new(0),
            replaced: AtomicU64::new(0),
            lost: AtomicU64::new(0),
        }
    }

    pub(crate) fn add(count: &AtomicU64, by: u64) {
        if by > 0 {
            count.fetch_add(by, Ordering::Relaxed); // Relaxed: counts order nothing.
        }
    }
}
