//! Time, with its unit.

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Sub, SubAssign};
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

    /// Both together, or the longest duration if that is more.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// All together, or the longest duration if that is more.
    #[must_use]
    pub fn saturating_sum(durations: impl IntoIterator<Item = Self>) -> Self {
        durations.into_iter().fold(Self(0), Self::saturating_add)
    }

    /// The share of `whole` that this is: from 0 to 1 if it is a part of it. It is 0 of nothing.
    ///
    /// ```
    /// use kilocore_figures::Nanoseconds;
    ///
    /// assert_eq!(Nanoseconds(25).share_of(Nanoseconds(100)), 0.25);
    /// assert_eq!(Nanoseconds(25).share_of(Nanoseconds(0)), 0.0);
    /// ```
    #[must_use]
    pub const fn share_of(self, whole: Self) -> f64 {
        if whole.0 == 0 { 0.0 } else { self.0 as f64 / whole.0 as f64 }
    }
}

impl Nanoseconds<f64> {
    /// The same in seconds.
    #[must_use]
    pub const fn seconds(self) -> f64 {
        self.0 / 1e9
    }

    /// Orders by length, with what is no number at the ends.
    #[must_use]
    pub fn total_cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
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

impl<N: MulAssign> MulAssign<N> for Nanoseconds<N> {
    fn mul_assign(&mut self, factor: N) {
        self.0 *= factor;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_stay_in_range() {
        let longest = Nanoseconds(u64::MAX);
        assert_eq!(Nanoseconds(2).saturating_add(Nanoseconds(3)), Nanoseconds(5));
        assert_eq!(longest.saturating_add(Nanoseconds(1)), longest);
        assert_eq!(Nanoseconds(2).saturating_sub(Nanoseconds(3)), Nanoseconds(0));
        assert_eq!(Nanoseconds::saturating_sum([1, 2, 3].map(Nanoseconds)), Nanoseconds(6));
        assert_eq!(Nanoseconds::saturating_sum([Nanoseconds(7), longest]), longest);
    }

    #[test]
    fn every_calculated_duration_has_a_place_in_the_order() {
        let mut durations = [f64::NAN, 2.0, 0.5].map(Nanoseconds);
        durations.sort_by(Nanoseconds::total_cmp);
        durations[0] *= 4.0;
        assert_eq!(durations[..2], [2.0, 2.0].map(Nanoseconds));
    }
}
