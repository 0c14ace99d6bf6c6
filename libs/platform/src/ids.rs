//! Indices and units. Each is a type of its own, so that a core is never taken for a node and a
//! cycle never for a nanosecond.

use core::ops::{Add, AddAssign, Mul, Sub};

/// A hardware thread, numbered from 0 as the operating system numbers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CpuId(pub u32);

/// A NUMA node, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NodeId(pub u32);

/// A lock, under a label by which those who watch its waiters tell it from other locks. Locks that they
/// cannot tell apart have the same label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockLabel(pub u64);

/// A time or a duration in cycles of the time-stamp counter (natively) or of the simulated
/// machine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Cycles(pub u64);

/// A duration in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub u64);

impl Cycles {
    /// More cycles than any clock counts.
    pub const MAX: Cycles = Cycles(u64::MAX);

    /// Returns the cycles from `earlier` to `self`. Returns zero if `earlier` is later, which
    /// happens when the clocks of two cores disagree.
    #[inline]
    #[must_use]
    pub fn since(self, earlier: Cycles) -> Cycles {
        Cycles(self.0.saturating_sub(earlier.0))
    }

    /// Returns the sum, or [`Cycles::MAX`] if the sum would be larger.
    #[inline]
    #[must_use]
    pub fn saturating_add(self, other: Cycles) -> Cycles {
        Cycles(self.0.saturating_add(other.0))
    }
}

impl Add for Cycles {
    type Output = Cycles;

    #[inline]
    fn add(self, other: Cycles) -> Cycles {
        Cycles(self.0 + other.0)
    }
}

impl AddAssign for Cycles {
    #[inline]
    fn add_assign(&mut self, other: Cycles) {
        self.0 += other.0;
    }
}

impl Sub for Cycles {
    type Output = Cycles;

    #[inline]
    fn sub(self, other: Cycles) -> Cycles {
        Cycles(self.0 - other.0)
    }
}

impl Mul<u64> for Cycles {
    type Output = Cycles;

    #[inline]
    fn mul(self, times: u64) -> Cycles {
        Cycles(self.0 * times)
    }
}
