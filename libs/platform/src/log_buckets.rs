//! Logarithmic buckets for whole numbers: the scale of a histogram.
//!
//! Each power of two is divided into the same number of steps, which is a power of two itself. Numbers
//! below twice that number have a bucket each. Above, a bucket is as wide as a step, which is its lower
//! bound divided by the number of steps, at most. So a histogram knows each number that it has counted to
//! within that share, and needs few buckets even if the numbers differ by orders of magnitude.
//!
//! A histogram that needs no small or no large numbers clamps them before it asks for a bucket.

/// A scale of logarithmic buckets, which says which numbers each bucket of a histogram contains.
///
/// Buckets are in the order of their numbers, without gaps, and every `u64` is in one of them.
///
/// ```
/// use kilocore_platform::LogBuckets;
///
/// const SCALE: LogBuckets = LogBuckets::with_steps(4);
/// let bucket = SCALE.bucket_of(1_000);
/// assert_eq!((SCALE.lower_bound(bucket), SCALE.upper_bound(bucket)), (896, 1_023));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogBuckets {
    /// The logarithm, to base 2, of the number of steps.
    power: u32,
}

impl LogBuckets {
    /// Makes a scale with so many buckets for each power of two. A bucket is then at most `1 / steps` as
    /// wide as its lower bound.
    ///
    /// # Panics
    /// If `steps` is not a power of two, or above 65,536.
    #[must_use]
    pub const fn with_steps(steps: u32) -> Self {
        assert!(steps.is_power_of_two() && steps <= 1 << 16, "a power of two up to 65,536");
        Self { power: steps.ilog2() }
    }

    /// Returns the number of buckets that contain all numbers of 64 bits.
    #[must_use]
    pub const fn count(self) -> usize {
        ((u64::BITS - self.power + 1) as usize) << self.power
    }

    /// Returns the bucket that contains `value`. It is below [`count`](Self::count).
    #[inline]
    #[must_use]
    pub const fn bucket_of(self, value: u64) -> usize {
        let steps = 1 << self.power;
        if value < steps {
            return value as usize;
        }
        let shift = value.ilog2() - self.power;
        ((shift as usize) << self.power) + (value >> shift) as usize
    }

    /// Returns the smallest number in `bucket`, or `u64::MAX` if there is no such bucket.
    #[inline]
    #[must_use]
    pub const fn lower_bound(self, bucket: usize) -> u64 {
        if bucket >= self.count() {
            return u64::MAX;
        }
        let Some(shift) = (bucket >> self.power).checked_sub(1) else { return bucket as u64 };
        let steps = 1 << self.power;
        (steps + (bucket as u64 & (steps - 1))) << shift
    }

    /// Returns the largest number in `bucket`, or `u64::MAX` if there is no such bucket.
    #[inline]
    #[must_use]
    pub const fn upper_bound(self, bucket: usize) -> u64 {
        if bucket >= self.count() - 1 { u64::MAX } else { self.lower_bound(bucket + 1) - 1 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Scales with 1 to 65,536 steps.
    fn scales() -> impl Strategy<Value = LogBuckets> {
        (0_u32..=16).prop_map(|power| LogBuckets::with_steps(1 << power))
    }

    /// Numbers of all magnitudes.
    fn numbers() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0_u32..64).prop_map(|(number, shift)| number >> shift)
    }

    proptest! {
        #[test]
        fn a_number_is_in_its_bucket(scale in scales(), number in numbers()) {
            let bucket = scale.bucket_of(number);
            prop_assert!(bucket < scale.count());
            let (lower, upper) = (scale.lower_bound(bucket), scale.upper_bound(bucket));
            prop_assert!((lower..=upper).contains(&number), "{} to {}", lower, upper);
            prop_assert!(upper - lower <= lower >> scale.power);
        }

        #[test]
        fn buckets_are_in_order_and_without_gaps(scale in scales(), bucket: prop::sample::Index) {
            let bucket = bucket.index(scale.count());
            let (lower, upper) = (scale.lower_bound(bucket), scale.upper_bound(bucket));
            prop_assert_eq!((scale.bucket_of(lower), scale.bucket_of(upper)), (bucket, bucket));
            let next = upper.checked_add(1).map(|next| (next, scale.bucket_of(next)));
            let last = bucket + 1 == scale.count();
            prop_assert_eq!(next, (!last).then(|| (scale.lower_bound(bucket + 1), bucket + 1)));
        }
    }

    #[test]
    fn a_scale_contains_all_numbers() {
        for power in 0..=16 {
            let scale = LogBuckets::with_steps(1 << power);
            assert_eq!((scale.bucket_of(0), scale.lower_bound(0)), (0, 0));
            assert_eq!(scale.bucket_of(u64::MAX), scale.count() - 1);
            assert_eq!(scale.upper_bound(scale.count() - 1), u64::MAX);
            assert_eq!(scale.lower_bound(scale.count()), u64::MAX);
        }
    }
}
