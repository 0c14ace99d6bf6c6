//! What is counted, of all threads together.

use std::sync::atomic::{AtomicU64, Ordering};

/// Something that is counted.
#[derive(Debug)]
pub(crate) struct Count(AtomicU64);

/// Loads and stores of lines that the core's filter had not.
pub(crate) static MISSES: Count = Count::new();
/// Lines that another core had.
pub(crate) static TRANSFERS: Count = Count::new();
/// How often one thread let another one go on.
pub(crate) static HANDOVERS: Count = Count::new();
/// How often a thread slept that spun.
pub(crate) static SLEEPS: Count = Count::new();
/// Calls of the system.
pub(crate) static CALLS: Count = Count::new();
/// How often a thread went outside.
pub(crate) static OUTSIDE: Count = Count::new();
/// Processes that were started.
pub(crate) static PROCESSES: Count = Count::new();

/// Nothing of that has been counted yet.
pub(crate) fn forget() {
    for count in [&MISSES, &TRANSFERS, &HANDOVERS, &SLEEPS, &CALLS, &OUTSIDE, &PROCESSES] {
        count.0.store(0, Ordering::Relaxed);
    }
}

impl Count {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Counts one more.
    #[inline(always)]
    pub(crate) fn more(&self) {
        // Only the thread that runs counts.
        self.0.store(self.get() + 1, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
