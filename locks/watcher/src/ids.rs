//! Names for processes, threads, moments and words.

use std::ops::{Range, Sub};

use kilocore_figures::Nanoseconds;

/// The kernel's number of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub u32);

/// The kernel's number of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Tid(pub(crate) u32);

/// A moment of the monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Moment(pub(crate) u64);

impl Moment {
    pub(crate) fn now() -> Self {
        Self(kilocore_linux::monotonic().as_nanos() as u64)
    }
}

impl Sub for Moment {
    type Output = Nanoseconds;

    /// The time since an earlier moment; none since a later one.
    fn sub(self, earlier: Self) -> Nanoseconds {
        Nanoseconds(self.0.saturating_sub(earlier.0))
    }
}

/// A word of memory that threads synchronize by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word {
    /// The process in whose memory it was seen.
    pub(crate) pid: Pid,
    /// The address in that process.
    pub(crate) address: u64,
}

impl Word {
    /// The bytes to watch: all of the aligned four, which futexes have.
    pub(crate) fn bytes(self) -> Range<u64> {
        let start = self.address & !3;
        start..start.saturating_add(4)
    }
}
