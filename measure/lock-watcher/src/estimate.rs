//! Figures with the interval that holds the truth in nine cases of ten, or more.

/// A figure of which only so much is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Estimate {
    /// The best guess.
    pub(crate) value: f64,
    /// The truth is hardly less, and hardly more.
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

    fn around(value: f64, margin: f64) -> Self {
        Self { value, low: (value - margin).max(0.0), high: value + margin }
    }

    /// The same, times a factor that is itself uncertain: it lies between 1 and twice as far.
    pub(crate) fn corrected(self, factor: f64) -> Self {
        let less = 1.0 + 0.5 * (factor - 1.0);
        let more = 1.0 + 1.5 * (factor - 1.0);
        Self { value: self.value * factor, low: self.low * less, high: self.high * more }
    }

    /// The sum of two figures.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }

    /// How far the ends are apart, as a share of the value.
    pub(crate) fn margin(self) -> f64 {
        if self.value > 0.0 { (self.high - self.low) / self.value } else { f64::INFINITY }
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
}
