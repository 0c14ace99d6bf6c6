//! Histograms turned into distributions, from which time can be taken off.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::Histogram;

use crate::{Duration, Range};

/// Width of a bucket as a share of its lower bound. In the histograms it is between a seventh and a
/// quarter.
const BUCKET_WIDTH: f64 = 0.2;

/// Durations, the shortest first. They are all that the histogram has, rare long
/// ones included, and their number and sum are the histogram's.
#[derive(Debug, Clone, Default)]
pub(super) struct Observed {
    buckets: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    low: Nanoseconds<f64>,
    high: Nanoseconds<f64>,
    count: f64,
}

impl Bucket {
    fn middle(&self) -> Nanoseconds<f64> {
        Nanoseconds(f64::midpoint(self.low.0, self.high.0))
    }

    fn time(&self) -> Nanoseconds<f64> {
        self.middle() * self.count
    }
}

impl Observed {
    pub(super) fn of(histogram: &Histogram) -> Self {
        let counted: f64 = histogram.buckets.iter().map(|(_, count)| *count as f64).sum();
        if histogram.count == 0 || counted <= 0.0 {
            return Self::default();
        }
        let each = histogram.count as f64 / counted;
        let bucket = |&(low, count): &(f64, u64)| Bucket {
            low: Nanoseconds(low),
            high: Nanoseconds(low * (1.0 + BUCKET_WIDTH)),
            count: count as f64 * each,
        };
        let mut observed = Self { buckets: histogram.buckets.iter().map(bucket).collect() };
        if observed.time() > Nanoseconds(0.0) {
            observed.stretch(histogram.sum / observed.time());
        } else {
            // Each duration was too short to be measured, but their sum was not.
            let mean = histogram.mean();
            observed.buckets.iter_mut().for_each(|bucket| (bucket.low, bucket.high) = (mean, mean));
        }
        observed
    }

    pub(super) fn count(&self) -> f64 {
        self.buckets.iter().map(|bucket| bucket.count).sum()
    }

    /// The sum of all durations.
    pub(super) fn time(&self) -> Nanoseconds<f64> {
        self.buckets.iter().map(Bucket::time).sum()
    }

    /// Makes each duration `factor` times as long.
    pub(super) fn stretch(&mut self, factor: f64) {
        for bucket in &mut self.buckets {
            bucket.low *= factor;
            bucket.high *= factor;
        }
    }

    /// Keeps the durations but changes their number, such that they take `time` altogether.
    pub(super) fn lasting(mut self, time: Nanoseconds<f64>) -> Self {
        let factor = time / self.time().max(Nanoseconds(f64::MIN_POSITIVE));
        self.buckets.iter_mut().for_each(|bucket| bucket.count *= factor);
        self
    }

    /// Iterates over the buckets, the longest durations first. An item is the length of one
    /// duration and the sum of all in its bucket.
    pub(super) fn longest_first(
        &self,
    ) -> impl Iterator<Item = (Nanoseconds<f64>, Nanoseconds<f64>)> {
        self.buckets.iter().rev().map(|bucket| (bucket.middle(), bucket.time()))
    }

    /// Removes durations, the longest first, until `time` is gone. If there is less, all are
    /// removed.
    pub(super) fn shed(&mut self, mut time: Nanoseconds<f64>) {
        for bucket in self.buckets.iter_mut().rev() {
            let taken = time.min(bucket.time());
            if taken <= Nanoseconds(0.0) {
                break;
            }
            bucket.count *= 1.0 - taken / bucket.time();
            time -= taken;
        }
        self.buckets.retain(|bucket| bucket.count > 0.0);
    }

    /// Returns a distribution in cycles of a clock of `ghz`. `entries` draws from it have the same
    /// sum.
    pub(super) fn duration(&self, entries: f64, ghz: f64) -> Duration {
        let count = self.count();
        if count <= 0.0 || entries <= 0.0 {
            return Duration::Constant(0.0);
        }
        let factor = count / entries * ghz;
        let mut before = 0.0;
        let range = |bucket: &Bucket| {
            before += bucket.count;
            Range {
                up_to: before / count,
                low: bucket.low.0 * factor,
                high: bucket.high.0 * factor,
            }
        };
        let mut ranges: Vec<Range> = self.buckets.iter().map(range).collect();
        if let Some(last) = ranges.last_mut() {
            last.up_to = 1.0;
        }
        Duration::Observed(ranges)
    }
}

#[cfg(test)]
mod tests {
    use kilocore_figures::Nanoseconds;
    use kilocore_lock_profile::Histogram;

    use super::Observed;

    /// A histogram in which 0.6 % of the durations take nearly all of the time.
    fn heavy() -> Histogram {
        let buckets = vec![(200.0, 30_000), (300.0, 3_000), (3e7, 150), (6e7, 50)];
        let sum = Nanoseconds(buckets.iter().map(|(low, count)| low * 1.08 * *count as f64).sum());
        Histogram { count: 33_200, sum, buckets }
    }

    #[test]
    fn few_durations_that_hold_all_the_work_are_kept() {
        let (histogram, ghz) = (heavy(), 2.0);
        let observed = Observed::of(&histogram);
        assert!((observed.time() / histogram.sum - 1.0).abs() < 1e-12);
        let duration = observed.duration(33_200.0, ghz);
        assert!((duration.mean() / (histogram.mean().0 * ghz) - 1.0).abs() < 1e-12);
        // With half as many entries, the sum is still the same.
        let half = observed.duration(16_600.0, ghz);
        assert!((half.mean() / (2.0 * duration.mean()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_longest_go_first_and_exactly_as_much_as_was_asked_for() {
        let mut observed = Observed::of(&heavy());
        let all = observed.time();
        let (longest, time) = observed.longest_first().next().unwrap();
        assert!((6e7..7.5e7).contains(&longest.0) && time < all * 0.5);
        observed.shed(time + Nanoseconds(1e6));
        assert!((observed.time() / (all - time - Nanoseconds(1e6)) - 1.0).abs() < 1e-9);
        assert!(observed.longest_first().next().unwrap().0 < Nanoseconds(4e7));
        observed.shed(all * 2.0);
        assert_eq!((observed.time(), observed.count()), (Nanoseconds(0.0), 0.0));
    }

    #[test]
    fn durations_too_short_to_be_told_keep_their_sum() {
        let short = Histogram { count: 100, sum: Nanoseconds(40.0), buckets: vec![(0.0, 100)] };
        assert!((Observed::of(&short).time().0 - 40.0).abs() < 1e-9);
        assert_eq!(Observed::of(&Histogram::default()).time(), Nanoseconds(0.0));
    }
}
