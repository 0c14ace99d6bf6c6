//! Durations, counted in buckets whose width grows with the duration.

use kilocore_figures::Nanoseconds;
use serde::{Deserialize, Serialize};

/// A histogram of durations in nanoseconds.
///
/// Buckets are logarithmic with [`SUB_BUCKETS`](Self::SUB_BUCKETS) linear steps in each power
/// of two, so that a bucket is never wider than a quarter of its lower bound. The sum is exact.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Histogram {
    /// How many durations were counted.
    pub count: u64,
    /// The sum of all durations, not rounded to buckets.
    #[serde(rename = "sum_ns")]
    pub sum: Nanoseconds<f64>,
    /// The buckets that are not empty: lower bound in nanoseconds, and count; ascending.
    pub buckets: Vec<(f64, u64)>,
}

impl Histogram {
    /// Steps in each power of two.
    pub const SUB_BUCKETS: u32 = 4;

    /// Returns the mean, or 0 for an empty histogram.
    #[must_use]
    pub fn mean(&self) -> Nanoseconds<f64> {
        if self.count == 0 { Nanoseconds(0.0) } else { self.sum / self.count as f64 }
    }

    /// Adds the durations of another histogram to this one.
    ///
    /// Buckets with the same lower bound become one. All others stay as they are.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.count = self.count.saturating_add(other.count);
        self.sum += other.sum;
        self.buckets.extend_from_slice(&other.buckets);
        self.buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.buckets.dedup_by(|later, kept| {
            let same = later.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(later.1);
            }
            same
        });
    }

    /// Returns the duration that a share `q` of all durations does not exceed, or 0
    /// for an empty histogram. `q` is clamped to 0 to 1. If `q` is uniformly random, the result is
    /// a random sample.
    ///
    /// Within a bucket, durations are taken to be spread evenly. So the result is off by the width
    /// of a bucket at most, which is a quarter of the result.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Nanoseconds<f64> {
        let total: f64 = self.buckets.iter().map(|(_, count)| *count as f64).sum();
        let q = if q.is_finite() { q.clamp(0.0, 1.0) } else { 0.0 };
        let mut left = q * total;
        for (lower, count) in &self.buckets {
            let count = *count as f64;
            if left <= count {
                return Nanoseconds(lower + Self::width(*lower) * (left / count).clamp(0.0, 1.0));
            }
            left -= count;
        }
        Nanoseconds(self.buckets.last().map_or(0.0, |(lower, _)| lower + Self::width(*lower)))
    }

    /// Returns the mean of the durations between two quantiles, or 0 if there are
    /// none.
    ///
    /// A thread that lost its processor in the middle of a section would dominate the mean. That
    /// does not happen if the longest durations are left out. The result is exact to the width of a
    /// bucket.
    #[must_use]
    pub fn trimmed_mean(&self, from: f64, to: f64) -> Nanoseconds<f64> {
        let total: f64 = self.buckets.iter().map(|(_, count)| *count as f64).sum();
        let (from, to) = (from.clamp(0.0, 1.0) * total, to.clamp(0.0, 1.0) * total);
        let (mut before, mut weight, mut sum) = (0.0, 0.0, 0.0);
        for (lower, count) in &self.buckets {
            let after = before + *count as f64;
            let (start, end) = (f64::max(before, from), f64::min(after, to));
            if end > start {
                let middle = ((start + end) / 2.0 - before) / *count as f64;
                sum += (end - start) * (lower + Self::width(*lower) * middle);
                weight += end - start;
            }
            before = after;
        }
        Nanoseconds(if weight > 0.0 { sum / weight } else { 0.0 })
    }

    /// Returns the width of the bucket that begins at `lower`: a step of its power of two.
    ///
    /// The steps were made in clock cycles and not in nanoseconds. So the width is only known to be
    /// between a seventh and a quarter of the bound. This returns the middle of these.
    fn width(lower: f64) -> f64 {
        lower * 0.2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(buckets: &[(f64, u64)]) -> Histogram {
        Histogram {
            count: buckets.iter().map(|bucket| bucket.1).sum(),
            sum: Nanoseconds(buckets.iter().map(|bucket| bucket.0 * bucket.1 as f64).sum()),
            buckets: buckets.to_vec(),
        }
    }

    #[test]
    fn quantiles_lie_in_the_right_bucket() {
        let histogram = histogram(&[(100.0, 50), (1000.0, 40), (10_000.0, 10)]);
        assert_eq!(histogram.quantile(0.0), Nanoseconds(100.0));
        assert_eq!(histogram.quantile(0.25), Nanoseconds(110.0));
        assert!((1000.0..1250.0).contains(&histogram.quantile(0.7).0));
        assert_eq!(histogram.quantile(1.0), Nanoseconds(12_000.0));
        assert_eq!(histogram.quantile(f64::NAN), Nanoseconds(100.0));
        assert_eq!(Histogram::default().quantile(0.5), Nanoseconds(0.0));
    }

    #[test]
    fn a_trimmed_mean_leaves_out_the_longest() {
        let histogram = histogram(&[(100.0, 99), (1e9, 1)]);
        assert!(histogram.mean() > Nanoseconds(1e6));
        assert!((105.0..115.0).contains(&histogram.trimmed_mean(0.0, 0.98).0));
        assert!(histogram.trimmed_mean(0.0, 1.0) > Nanoseconds(1e6));
        assert_eq!(histogram.trimmed_mean(0.5, 0.5), Nanoseconds(0.0));
    }

    #[test]
    fn merging_adds_bucket_by_bucket() {
        let mut sum = histogram(&[(100.0, 1), (200.0, 2)]);
        sum.merge(&histogram(&[(50.0, 4), (200.0, 8)]));
        assert_eq!(sum.buckets, [(50.0, 4), (100.0, 1), (200.0, 10)]);
        assert_eq!((sum.count, sum.sum), (15, Nanoseconds(100.0 + 400.0 + 200.0 + 1600.0)));
        let before = sum.clone();
        sum.merge(&Histogram::default());
        assert_eq!(sum, before);
    }
}
