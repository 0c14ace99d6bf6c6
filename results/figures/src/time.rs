//! Time, with its unit.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A duration in nanoseconds, or a moment as the nanoseconds since one that the holder names. What is
/// counted is whole (`Nanoseconds`). What is calculated, such as a mean, has a fraction
/// (`Nanoseconds<f64>`). In documents it is the bare number, whose name ends in `_ns`.
///
/// ```
/// use kilocore_figures::Nanoseconds;
///
/// let [held, all] = [Nanoseconds(1_500), Nanoseconds(6_000)];
/// assert_eq!(held.calculated() / all.calculated(), 0.25);
/// assert_eq!((held + all).calculated().seconds(), 7.5e-6);
/// ```
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanoseconds<N = u64>(pub N);

impl Nanoseconds {
    /// The same to calculate with, to 53 binary digits.
    #[must_use]
    pub const fn calculated(self) -> Nanoseconds<f64> {
        Nanoseconds(self.0 as f64)
    }

    /// What is left without `other`, or nothing if that is more.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Nanoseconds<f64> {
    /// The same in seconds.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        self.0 / 1e9
    }

    /// The longer one. If one of them is no number, the other one.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// The shorter one. If one of them is no number, the other one.
    #[must_use]
    pub const fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

/// How often one duration goes into the other.
impl Div for Nanoseconds<f64> {
    type Output = f64;

    fn div(self, other: Self) -> f64 {
        self.0 / other.0
    }
}

impl<N: Add<Output = N>> Add for Nanoseconds<N> {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl<N: Sub<Output = N>> Sub for Nanoseconds<N> {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl<N: AddAssign> AddAssign for Nanoseconds<N> {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl<N: SubAssign> SubAssign for Nanoseconds<N> {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl<N: Mul<Output = N>> Mul<N> for Nanoseconds<N> {
    type Output = Self;

    fn mul(self, factor: N) -> Self {
        Self(self.0 * factor)
    }
}

impl Div<u64> for Nanoseconds {
    type Output = Self;

    fn div(self, parts: u64) -> Self {
        Self(self.0 / parts)
    }
}

impl Div<f64> for Nanoseconds<f64> {
    type Output = Self;

    fn div(self, parts: f64) -> Self {
        Self(self.0 / parts)
    }
}

impl<N: Sum> Sum for Nanoseconds<N> {
    fn sum<I: Iterator<Item = Self>>(durations: I) -> Self {
        Self(durations.map(|duration| duration.0).sum())
    }
}

impl From<Duration> for Nanoseconds {
    /// A duration that is too long to be counted so becomes the longest one.
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}
