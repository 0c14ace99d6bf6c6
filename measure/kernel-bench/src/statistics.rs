//! Intervals and noise of repeated samples.
//!
//! Nothing is assumed of how samples are distributed: an interval lies between two of them, chosen
//! by how likely so many of an even chance fall on one side of the true median.

use serde::{Deserialize, Serialize};

/// Where the true median lies, with some certainty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How certain it is, at most 1: at least 0.95 if there are enough samples.
    pub certainty: f64,
}

/// What becomes of a certainty that is wanted.
const WANTED: f64 = 0.95;

/// How far samples can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// The interval is within some percent of the median.
    Steady,
    /// It is wider.
    Noisy,
    /// It is so wide that the median says little.
    Unsteady,
    /// Too few samples to tell.
    TooFew,
}

impl Noise {
    /// Half an interval, as a share of the median, up to which samples are steady.
    pub const STEADY: f64 = 0.03;
    /// The same up to which they are noisy and no worse.
    pub const NOISY: f64 = 0.10;
    /// The least certainty of an interval that anything is told by.
    const LEAST_CERTAINTY: f64 = 0.9;

    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Noise::Steady => "steady",
            Noise::Noisy => "noisy",
            Noise::Unsteady => "unsteady",
            Noise::TooFew => "too few",
        }
    }

    /// That of samples with this median and interval.
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

/// The values in ascending order.
pub(crate) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The narrowest interval between two of the values, in ascending order, that is as certain as
/// wanted; the widest if none is. None without values.
#[must_use]
pub(crate) fn interval(sorted: &[f64]) -> Option<Interval> {
    let count = sorted.len();
    let (&low, &high) = (sorted.first()?, sorted.last()?);
    // The chance that all samples fall on one side, that all but one do, and so on.
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
