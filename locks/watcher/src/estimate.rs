//! Figures with the interval that holds the truth in nine cases of ten, or more.

/// A figure of which only so much is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Estimate {
    /// The likeliest value of the figure.
    pub(crate) value: f64,
    /// The lower end of the interval.
    pub(crate) low: f64,
    /// The upper end of the interval.
    pub(crate) high: f64,
}

/// The mean of a few values; 0 of none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Two-sided normal quantile for nine cases of ten, and a little more for the few windows that
/// there may be.
const QUANTILE: f64 = 2.0;

impl Estimate {
    /// A mean of so many independent values, with a further uncertainty that does not shrink with
    /// their number.
    pub(crate) fn of_mean(values: &[f64], systematic: f64) -> Option<Self> {
        let count = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = mean(values);
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let error = (variance / (count - 1.0).max(1.0) / count).sqrt();
        Some(Self::around(mean, QUANTILE * error + systematic))
    }

    /// A ratio of two sums over windows, each pair one window's.
    pub(crate) fn of_ratio(pairs: &[(f64, f64)]) -> Option<Self> {
        let (above, below) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
        if below <= 0.0 {
            return None;
        }
        let (ratio, count) = (above / below, pairs.len() as f64);
        let residual = pairs.iter().map(|(x, y)| (x - ratio * y).powi(2)).sum::<f64>();
        let windows = (residual * count / (count - 1.0).max(1.0)).sqrt() / below;
        // A single window says nothing of how windows differ; counts do.
        let counts = above.max(1.0).sqrt() / below;
        Some(Self::around(ratio, QUANTILE * windows.max(counts)))
    }

    /// The same where the sum of the second values cannot be less than so much. If it is, the ratio
    /// is known only to be no more than by that.
    pub(crate) fn of_ratio_at_least(pairs: &[(f64, f64)], least: f64) -> Option<Self> {
        let (above, below) = pairs.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
        if below >= least {
            return Self::of_ratio(pairs);
        }
        let most = above / least;
        (least > 0.0).then_some(Self { value: most, low: 0.0, high: most })
    }

    fn around(value: f64, margin: f64) -> Self {
        Self { value, low: (value - margin).max(0.0), high: value + margin }
    }

    /// The same, times a factor that is itself uncertain.
    pub(crate) fn corrected(self, factor: Self) -> Self {
        Self {
            value: self.value * factor.value,
            low: self.low * factor.low,
            high: self.high * factor.high,
        }
    }

    /// The sum of two figures.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    /// How many times the lower end the upper one is. One that may be nothing is not known at all.
    pub(crate) fn margin(self) -> f64 {
        if self.low > 0.0 { self.high / self.low } else { f64::INFINITY }
    }

    /// The same, in other units or for another length of time.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, low: self.low * factor, high: self.high * factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_the_error_of_its_values_and_of_its_method() {
        let estimate = Estimate::of_mean(&[9.0, 10.0, 11.0], 1.0).unwrap();
        // The standard error is the root of a third.
        let margin = 2.0 / 3f64.sqrt() + 1.0;
        assert!((estimate.value - 10.0).abs() < 1e-9);
        assert!((estimate.high - 10.0 - margin).abs() < 1e-9);
        assert_eq!(Estimate::of_mean(&[], 1.0), None);
    }

    #[test]
    fn a_ratio_that_is_the_same_in_every_window_has_the_error_of_counts() {
        let estimate = Estimate::of_ratio(&[(100.0, 10.0), (300.0, 30.0)]).unwrap();
        assert!((estimate.value - 10.0).abs() < 1e-9);
        assert!((estimate.high - 11.0).abs() < 1e-9);
        assert_eq!(Estimate::of_ratio(&[]), None);
    }

    #[test]
    fn a_ratio_to_nearly_nothing_is_open() {
        let pairs = [(100.0, 1.0), (100.0, -0.5)];
        let estimate = Estimate::of_ratio_at_least(&pairs, 2.0).unwrap();
        assert_eq!((estimate.value, estimate.low, estimate.high), (100.0, 0.0, 100.0));
        let known = Estimate::of_ratio_at_least(&[(100.0, 10.0)], 2.0);
        assert_eq!(known, Estimate::of_ratio(&[(100.0, 10.0)]));
        assert_eq!(Estimate::of_ratio_at_least(&[], 0.0), None);
    }
}
