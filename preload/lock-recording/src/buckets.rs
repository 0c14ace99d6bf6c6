//! Logarithmic buckets for durations in clock cycles.
//!
//! A power of two has four of them, so the width of a bucket is at most a quarter of its lower bound.
//! The first bucket also contains everything below [`SMALLEST`], which is less than reading the clock
//! costs. The last bucket contains everything from [`LARGEST`] on.

use kilocore_platform::LogBuckets;

const SCALE: LogBuckets = LogBuckets::with_steps(4);

/// All durations below this number of cycles are in the first bucket.
const SMALLEST: u64 = 16;

/// All durations from this number of cycles on (some minutes) are in the last bucket.
const LARGEST: u64 = 1 << 40;

/// How many buckets of the scale a histogram leaves out, as they are of shorter durations.
const LEFT_OUT: usize = SCALE.bucket_of(SMALLEST);

/// The number of buckets of a histogram.
pub const BUCKETS: usize = SCALE.bucket_of(LARGEST) - LEFT_OUT + 1;

/// Returns the bucket of a duration in cycles. The result is below [`BUCKETS`].
#[inline]
#[must_use]
pub const fn bucket_of(cycles: u64) -> usize {
    let cycles = if cycles < SMALLEST { SMALLEST } else { cycles };
    SCALE.bucket_of(if cycles > LARGEST { LARGEST } else { cycles }) - LEFT_OUT
}

/// Returns the smallest duration in `bucket`, in cycles. It is 0 for the first bucket.
///
/// `bucket` should be below [`BUCKETS`]. If it is not, the result is that of the last bucket.
#[must_use]
pub const fn bucket_lower_bound(bucket: usize) -> u64 {
    if bucket == 0 {
        return 0;
    }
    SCALE.lower_bound(LEFT_OUT + if bucket >= BUCKETS { BUCKETS - 1 } else { bucket })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_contain_what_is_shorter_or_longer() {
        assert_eq!((BUCKETS, bucket_of(0), bucket_of(19), bucket_of(20)), (145, 0, 0, 1));
        assert_eq!((bucket_lower_bound(0), bucket_lower_bound(1)), (0, 20));
        assert_eq!(bucket_of(LARGEST - 1), BUCKETS - 2);
        assert_eq!((bucket_of(LARGEST), bucket_of(u64::MAX)), (BUCKETS - 1, BUCKETS - 1));
        assert_eq!(bucket_lower_bound(BUCKETS - 1), LARGEST);
        assert_eq!(bucket_lower_bound(BUCKETS), LARGEST);
    }
}
