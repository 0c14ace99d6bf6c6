//! Logarithmic buckets of durations in clock cycles.
//!
//! Each power of two has four steps, so a bucket is at most a quarter of its lower bound wide.
//! The first bucket takes everything below [`SMALLEST`], which is less than reading the clock
//! costs, and the last everything from [`LARGEST`] on.

/// Durations below this many cycles are not told apart.
const SMALLEST: u64 = 16;

/// Durations from this many cycles on (minutes) are not told apart.
const LARGEST: u64 = 1 << 40;

/// The number of buckets of a histogram.
pub const BUCKETS: usize = position(LARGEST) + 1;

/// The index of a duration within `SMALLEST..=LARGEST`, counted from the bucket of the smallest.
#[inline]
const fn position(cycles: u64) -> usize {
    let power = cycles.ilog2();
    let step = (cycles >> (power - 2)) & 3;
    ((power - SMALLEST.ilog2()) * 4) as usize + step as usize
}

/// The bucket of a duration in cycles, below [`BUCKETS`].
#[inline]
#[must_use]
pub const fn bucket_of(cycles: u64) -> usize {
    let cycles = if cycles < SMALLEST { SMALLEST } else { cycles };
    position(if cycles > LARGEST { LARGEST } else { cycles })
}

/// The smallest duration in cycles that `bucket` takes; 0 for the first.
///
/// `bucket` is below [`BUCKETS`]; beyond that the result is that of the last bucket.
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
