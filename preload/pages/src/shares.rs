//! What is counted, in shares that cores write to without disturbing each other.
//!
//! A request takes a tenth of a microsecond, and on a large machine a line that all cores write to would
//! take longer. So each core adds to its own share, and only who wants a sum looks at all of them.

use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use kilocore_platform::{Native, Platform};

use crate::tables::{Zero, zeros};

/// Something that is counted. Except for the first three it is pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Count {
    /// Mappings that were served.
    Mappings,
    /// Blocks of `malloc` that were served.
    Blocks,
    /// Requests that the pool had no room for.
    Full,
    /// Pages that had to be zero and were.
    Zero,
    /// Pages that had to be zero and were cleared.
    Cleared,
    /// Pages that were given back to the system as they were unmapped, or to measure how many are touched.
    Discarded,
    /// Pages that were given back to the system because they were idle.
    Decayed,
    /// Pages that got a new mapping, because the program had altered theirs.
    Replaced,
    /// Pages that could get no new mapping.
    Lost,
}

const COUNTS: usize = Count::Lost as usize + 1;

/// The sizes of ranges: up to 1, 2, 4 … 512 pages.
pub(crate) const SIZES: usize = 10;

/// More cores than this share their shares.
const MOST: u32 = 64;

/// After so many pages that became idle, a core looks at the sum.
const PAGES_TO_LOOK: u32 = 1024;

/// What one core counts, or a few.
#[derive(Debug)]
#[repr(C, align(128))]
pub(crate) struct Share {
    counts: [AtomicU64; COUNTS],
    /// Pages that were used and lie idle in the pool now, less those that other cores took from there.
    idle: AtomicI64,
    /// Pages that became idle since the sum was looked at.
    unseen: AtomicU32,
    /// Pages that were taken back.
    calls: AtomicU32,
    /// For each size, the ranges until the next one that is measured.
    pub(crate) left: [AtomicU32; SIZES],
}

// SAFETY: it consists of numbers.
unsafe impl Zero for Share {}

// All accesses are relaxed: counts order nothing.
impl Share {
    pub(crate) fn add(&self, count: Count, by: u32) {
        if by > 0 {
            self.counts[count as usize].fetch_add(by.into(), Ordering::Relaxed);
        }
    }

    /// Notes that pages became idle. Returns whether it is time to look at how many there are.
    pub(crate) fn add_idle(&self, pages: u32) -> bool {
        self.idle.fetch_add(pages.into(), Ordering::Relaxed);
        let look = self.unseen.fetch_add(pages, Ordering::Relaxed) + pages >= PAGES_TO_LOOK;
        if look {
            self.unseen.store(0, Ordering::Relaxed);
        }
        look
    }

    /// Notes that idle pages are used again, or have no memory any more.
    pub(crate) fn take_idle(&self, pages: u32) {
        if pages > 0 {
            self.idle.fetch_sub(pages.into(), Ordering::Relaxed);
        }
    }

    /// Returns whether this is one of so many calls.
    pub(crate) fn is_turn(&self, of: u32) -> bool {
        self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(of)
    }
}

/// The shares of all cores.
#[derive(Debug)]
pub(crate) struct Shares(&'static [Share]);

impl Shares {
    /// Returns shares for so many cores.
    pub(crate) fn new(cores: u32) -> Self {
        Self(zeros(cores.clamp(1, MOST) as usize))
    }

    /// Returns the share of the core that the caller runs on.
    #[inline]
    pub(crate) fn own(&self) -> &Share {
        &self.0[Native::cpu().0 as usize % self.0.len()]
    }

    pub(crate) fn sum(&self, count: Count) -> u64 {
        self.0.iter().map(|share| share.counts[count as usize].load(Ordering::Relaxed)).sum()
    }

    /// Returns how many pages lie idle. Where cores take and give at this moment, it is an estimate.
    pub(crate) fn idle(&self) -> i64 {
        self.0.iter().map(|share| share.idle.load(Ordering::Relaxed)).sum()
    }
}
