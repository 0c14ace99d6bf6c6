//! The time of a function or context on both sides, and the difference per unit of work.
//!
//! Differences are kept as whole numbers over one common denominator. So the differences of all
//! functions add up to the total loss exactly, without rounding.

use kilocore_sampled_profile::Tally;

use crate::Work;

/// The work of both sides: on each side, that of all its runs together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Works {
    /// The work of the base runs.
    pub base: Work,
    /// The work of the scaled runs.
    pub scaled: Work,
}

impl Works {
    fn denominator(self) -> f64 {
        self.base.as_f64() * self.scaled.as_f64()
    }
}

/// The time of both sides that is in no sample. It may be negative, if a sampler saw more time than
/// there was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// The time of the base runs.
    pub base: i128,
    /// The time of the scaled runs.
    pub scaled: i128,
}

/// A loss per unit of work: the function scalability value, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Loss {
    /// The numerator. The denominator is the product of both sides' work in units, times a million.
    pub numerator: i128,
}

impl Loss {
    /// Returns the loss as a number, in the profile's unit per unit of work.
    #[must_use]
    pub fn per_unit(self, works: Works) -> f64 {
        self.numerator as f64 / 1e6 / works.denominator()
    }

    /// Returns this loss as a share of another one, or `None` if the other is zero.
    #[must_use]
    pub fn share_of(self, whole: Self) -> Option<f64> {
        (whole.numerator != 0).then(|| self.numerator as f64 / whole.numerator as f64)
    }
}

impl std::ops::Add for Loss {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { numerator: self.numerator + other.numerator }
    }
}

impl Times {
    /// Returns how much longer a unit of work takes on the scaled side than on the base side.
    #[must_use]
    pub fn loss(self, works: Works) -> Loss {
        let base = self.base * i128::from(works.scaled.millionths());
        let scaled = self.scaled * i128::from(works.base.millionths());
        Loss { numerator: scaled - base }
    }

    /// Returns how long a unit of work takes on the base side, in the profile's unit.
    #[must_use]
    pub fn base_per_unit(self, works: Works) -> f64 {
        self.base as f64 / works.base.as_f64()
    }

    /// Returns how long a unit of work takes on the scaled side, in the profile's unit.
    #[must_use]
    pub fn scaled_per_unit(self, works: Works) -> f64 {
        self.scaled as f64 / works.scaled.as_f64()
    }
}

/// The samples of both sides that fell on something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    /// The samples in the base runs.
    pub base: Tally,
    /// The samples in the scaled runs.
    pub scaled: Tally,
}

impl Amounts {
    /// Adds the samples that fell on something else.
    pub fn add(&mut self, other: Self) {
        self.base.add(other.base);
        self.scaled.add(other.scaled);
    }

    /// Returns the times without the numbers of samples.
    #[must_use]
    pub fn times(self) -> Times {
        Times { base: i128::from(self.base.weight), scaled: i128::from(self.scaled.weight) }
    }

    /// Returns whether samples of the scaled side fell on it, and none of the base side.
    #[must_use]
    pub fn is_new(self) -> bool {
        self.base.samples == 0 && self.scaled.samples > 0
    }

    /// Returns whether samples of the base side fell on it, and none of the scaled side.
    #[must_use]
    pub fn has_vanished(self) -> bool {
        self.scaled.samples == 0 && self.base.samples > 0
    }
}
