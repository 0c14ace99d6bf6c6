//! Intervals and noise of repeated samples.
//!
//! Nothing is assumed about the distribution of the samples. The ends of an interval are two of the
//! samples. Each sample falls below the true median with probability one half, so the binomial
//! distribution tells how certain it is that the median lies between the two.

use serde::{Deserialize, Serialize};

/// An interval in which the true median lies, with some certainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end, in the unit of the samples.
    pub low: f64,
    /// The upper end, in the unit of the samples.
    pub high: f64,
    /// The probability that the true median lies in it, at most 1. It is at least 0.95 if there are
    /// enough samples.
    pub certainty: f64,
}

/// The certainty that an interval should have.
const WANTED: f64 = 0.95;

/// How far samples can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// The interval reaches a few percent from the median: see [`Noise::STEADY`].
    Steady,
    /// The interval is wider, up to [`Noise::NOISY`].
    Noisy,
    /// The interval is so wide that the median says little.
    Unsteady,
    /// There are too few samples to tell.
    TooFew,
}

impl Noise {
    /// Samples are steady if half their interval is at most this share of the median.
    pub const STEADY: f64 = 0.03;
    /// Samples are noisy, but not unsteady, if half their interval is at most this share of the
    /// median.
    pub const NOISY: f64 = 0.10;
    /// If an interval is less certain than this, there are too few samples to judge it.
    const LEAST_CERTAINTY: f64 = 0.9;

    /// Returns the noise in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Noise::Steady => "steady",
            Noise::Noisy => "noisy",
            Noise::Unsteady => "unsteady",
            Noise::TooFew => "too few",
        }
    }

    /// Returns the noise of samples with this median and interval.
    #[must_use]
    pub fn of(median: f64, interval: &Interval) -> Self {
        let share = (interval.high - interval.low) / 2.0 / median;
        if interval.certainty < Self::LEAST_CERTAINTY {
            Noise::TooFew
        } else if share <= Self::STEADY {
            Noise::Steady
        } else if share <= Self::NOISY {
            Noise::Noisy
        } else {
            Noise::Unsteady
        }
    }
}

/// Returns the narrowest interval between two of the values, which are in ascending order, whose
/// certainty is at least 0.95. Returns the widest interval if no interval is that certain, and
/// `None` if there are no values.
#[must_use]
pub(crate) fn interval(sorted: &[f64]) -> Option<Interval> {
    let count = sorted.len();
    let (&low, &high) = (sorted.first()?, sorted.last()?);
    // The probability that all samples fall on one given side of the median, then that all but one
    // do, and so on.
    let mut chance = 0.5_f64.powi(i32::try_from(count).ok()?);
    let mut below = chance;
    let mut found = Interval { low, high, certainty: 1.0 - 2.0 * below };
    for left_out in 1..count.div_ceil(2) {
        chance *= (count - left_out + 1) as f64 / left_out as f64;
        below += chance;
        let certainty = 1.0 - 2.0 * below;
        if certainty < WANTED {
            break;
        }
        let (low, high) = (sorted[left_out], sorted[count - 1 - left_out]);
        found = Interval { low, high, certainty };
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_sign_test() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        // Tables of the binomial distribution: of 20 samples the 6th and the 15th, 95.86 %.
        let found = interval(&values).unwrap();
        assert_eq!((found.low, found.high), (6.0, 15.0));
        assert!((found.certainty - 0.9586).abs() < 1e-4, "{found:?}");
        // Of 8, the second and the seventh would be 93 % certain, which is too little.
        let found = interval(&values[..8]).unwrap();
        assert_eq!((found.low, found.high), (1.0, 8.0));
        assert!((found.certainty - (1.0 - 2.0 / 256.0)).abs() < 1e-12);
        let found = interval(&values[..1]).unwrap();
        assert_eq!((found.low, found.high, found.certainty), (1.0, 1.0, 0.0));
        assert_eq!(interval(&[]), None);
        // As many as there may be: of 1,000, the 469th and the 532nd.
        let many: Vec<f64> = (1..=1000).map(f64::from).collect();
        let found = interval(&many).unwrap();
        assert_eq!((found.low, found.high), (469.0, 532.0));
    }

    #[test]
    fn noise_is_judged_by_the_interval() {
        let interval =
            |half: f64, certainty| Interval { low: 100.0 - half, high: 100.0 + half, certainty };
        assert_eq!(Noise::of(100.0, &interval(1.0, 0.99)), Noise::Steady);
        assert_eq!(Noise::of(100.0, &interval(5.0, 0.99)), Noise::Noisy);
        assert_eq!(Noise::of(100.0, &interval(15.0, 0.99)), Noise::Unsteady);
        assert_eq!(Noise::of(100.0, &interval(1.0, 0.75)), Noise::TooFew);
    }
}
