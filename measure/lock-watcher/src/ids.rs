//! Names for processes, threads, moments and words.

use std::ops::{Range, Sub};

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pid(pub u32);

/// A thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tid(pub u32);

/// A moment of the monotonic clock, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(pub u64);

impl Moment {
    /// This moment.
    #[must_use]
    pub fn now() -> Self {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is ours to be written.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
        Self(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

impl Sub for Moment {
    type Output = Nanoseconds;

    /// The time since an earlier moment; none since a later one.
    fn sub(self, earlier: Self) -> Nanoseconds {
        Nanoseconds(self.0.saturating_sub(earlier.0))
    }
}

/// A length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanoseconds(pub u64);

/// A word of memory that threads synchronize by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word {
    /// The process in whose memory it was seen.
    pub pid: Pid,
    /// Its address there.
    pub address: u64,
}

impl Word {
    /// The bytes to watch: all of the aligned four, which futexes have.
    #[must_use]
    pub fn bytes(self) -> Range<u64> {
        let start = self.address & !3;
        start..start.saturating_add(4)
    }
}
