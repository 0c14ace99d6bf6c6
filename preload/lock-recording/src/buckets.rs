//! Logarithmic buckets for durations in clock cycles.
//!
//! Each power of two is divided into four steps, so the width of a bucket is at most a quarter of
//! its lower bound. The first bucket also contains everything below [`SMALLEST`], which is less
//! than reading the clock costs. The last bucket contains everything from [`LARGEST`] on.

/// All durations below this number of cycles are in the first bucket.
const SMALLEST: u64 = 16;

/// All durations from this number of cycles on (some minutes) are in the last bucket.
const LARGEST: u64 = 1 << 40;

/// The number of buckets of a histogram.
pub const BUCKETS: usize = position(LARGEST) + 1;

/// Returns the index of the bucket of a duration within `SMALLEST..=LARGEST`.
#[inline]
const fn position(cycles: u64) -> usize {
    let power = cycles.ilog2();
    let step = (cycles >> (power - 2)) & 3;
    ((power - SMALLEST.ilog2()) * 4) as usize + step as usize
}

/// Returns the bucket of a duration in cycles. The result is below [`BUCKETS`].
#[inline]
#[must_use]
pub const fn bucket_of(cycles: u64) -> usize {
    let cycles = if cycles < SMALLEST { SMALLEST } else { cycles };
    position(if cycles > LARGEST { LARGEST } else { cycles })
}

/// Returns the smallest duration in `bucket`, in cycles. It is 0 for the first bucket.
///
/// `bucket` should be below [`BUCKETS`]. If it is not, the result is that of the last bucket.
#[must_use]
pub const fn bucket_lower_bound(bucket: usize) -> u64 {
    if bucket == 0 {
        return 0;
    }
    let bucket = if bucket >= BUCKETS { BUCKETS - 1 } else { bucket };
    let power = SMALLEST.ilog2() as usize + bucket / 4;
    (4 + (bucket % 4) as u64) << (power - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lower_bound_falls_into_its_own_bucket() {
        for bucket in 0..BUCKETS {
            assert_eq!(bucket_of(bucket_lower_bound(bucket)), bucket);
        }
    }

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        for bucket in 1..BUCKETS {
            let lower = bucket_lower_bound(bucket);
            assert_eq!(bucket_of(lower - 1), bucket - 1);
            assert!(bucket == 1 || lower - bucket_lower_bound(bucket - 1) <= lower / 4);
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }
}
