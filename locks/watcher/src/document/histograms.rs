//! Durations of windows, taken for those of the whole time.

use std::collections::BTreeMap;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::Histogram;
use kilocore_platform::LogBuckets;

const SCALE: LogBuckets = LogBuckets::with_steps(Histogram::SUB_BUCKETS);

/// So many durations, distributed as the sample is, in nanoseconds, with this sum.
pub(super) fn spread(sample: &[f64], count: u64, sum: Nanoseconds<f64>) -> Histogram {
    if count == 0 || sample.is_empty() {
        return Histogram::default();
    }
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for value in sample {
        *buckets.entry(lower_bound(*value)).or_default() += 1;
    }
    // The counts add up to the whole: what rounding leaves over goes to the largest.
    let part = count as f64 / sample.len() as f64;
    let mut scaled: Vec<(f64, u64)> = buckets
        .into_iter()
        .map(|(lower, times)| (lower as f64, (times as f64 * part).floor() as u64))
        .collect();
    let rest = count - scaled.iter().map(|(_, times)| times).sum::<u64>().min(count);
    if let Some((_, times)) = scaled.iter_mut().max_by_key(|(_, times)| *times) {
        *times += rest;
    }
    scaled.retain(|(_, times)| *times > 0);
    Histogram { count, sum: sum.max(Nanoseconds(0.0)), buckets: scaled }
}

/// The lower bound of a duration's bucket: four steps for each power of two from 16 on.
fn lower_bound(ns: f64) -> u64 {
    let whole = ns.max(0.0) as u64;
    if whole < 16 { 0 } else { SCALE.lower_bound(SCALE.bucket_of(whole)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_spread_to_the_whole_with_its_sum() {
        let histogram = spread(&[10.0, 100.0, 110.0], 10, Nanoseconds(500.0));
        assert_eq!((histogram.count, histogram.sum), (10, Nanoseconds(500.0)));
        assert_eq!(histogram.buckets.iter().map(|(_, count)| count).sum::<u64>(), 10);
        assert_eq!(histogram.buckets[0].0, 0.0);
        assert_eq!(spread(&[], 5, Nanoseconds(5.0)), Histogram::default());
    }

    #[test]
    fn buckets_are_no_wider_than_a_quarter_of_their_bound() {
        for ns in [16.0, 17.0, 100.0, 127.0, 128.0, 1e6, 123_456.0] {
            let lower = lower_bound(ns) as f64;
            assert!(lower <= ns && ns < lower * 1.25 + 1.0, "{ns} in {lower}");
        }
        assert_eq!(lower_bound(3.0), 0);
    }
}
