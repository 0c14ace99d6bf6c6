//! A share of a whole, without floating point.

use core::fmt;

use kilocore_platform::Nanos;

/// A share between nothing and everything, in millionths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Share(u32);

impl Share {
    /// The share of nothing: 0.
    pub const NONE: Share = Share(0);
    /// The share of everything: 1, in millionths.
    pub const ALL: Share = Share(1_000_000);

    /// So many per cent; more than 100 are 100.
    #[must_use]
    pub const fn percent(percent: u32) -> Self {
        if percent >= 100 { Self::ALL } else { Self(percent * 10_000) }
    }

    /// So many millionths; more than a million are a million.
    #[must_use]
    pub const fn millionths(millionths: u32) -> Self {
        if millionths >= 1_000_000 { Self::ALL } else { Self(millionths) }
    }

    /// The share that a part has of a whole. Nothing of nothing is nothing, and no part is more than
    /// everything.
    #[must_use]
    pub fn of(part: Nanos, whole: Nanos) -> Self {
        if whole.0 == 0 {
            return Self::NONE;
        }
        let millionths = u128::from(part.0) * 1_000_000 / u128::from(whole.0);
        Self(millionths.min(1_000_000) as u32)
    }

    /// The share in millionths, at most a million.
    #[must_use]
    pub const fn as_millionths(self) -> u32 {
        self.0
    }

    /// What is left of the whole.
    #[must_use]
    pub const fn rest(self) -> Self {
        Self(1_000_000 - self.0)
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// In per cent, with one decimal place.
impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 + 500) / 1000;
        write!(formatter, "{}.{} %", tenths / 10, tenths % 10)
    }
}
