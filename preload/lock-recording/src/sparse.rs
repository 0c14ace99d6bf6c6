//! The words of a [`SparseHistogram`](crate::SparseHistogram).
//!
//! A word names a bucket in its upper 8 bits, as its index plus 1, and counts in the lower 24.
//! Zero is a word that is not in use yet. A word that would count to [`LIMIT`] or beyond is left
//! as it is and the duration counted elsewhere.

use crate::BUCKETS;

/// Buckets that one cache line has room for, besides the sum of the durations and a reference.
pub const ENTRIES: usize = 13;

/// Bits that count.
const COUNT_BITS: u32 = 24;

/// Counts stay below this. Adding is not atomic with the comparison where several threads write,
/// so there must be room above for what they all may add at once.
pub const LIMIT: u32 = 1 << (COUNT_BITS - 1);

/// The word for `bucket`, which is below [`BUCKETS`], counted `count` times, which is below
/// [`LIMIT`].
#[inline]
#[must_use]
pub const fn entry(bucket: usize, count: u32) -> u32 {
    (bucket as u32 + 1) << COUNT_BITS | count
}

/// Whether `entry` is one of `bucket`.
#[inline]
#[must_use]
pub const fn is_of(entry: u32, bucket: usize) -> bool {
    entry >> COUNT_BITS == bucket as u32 + 1
}

/// How often the bucket of `entry` was counted.
#[inline]
#[must_use]
pub const fn count(entry: u32) -> u32 {
    entry & ((1 << COUNT_BITS) - 1)
}

/// The bucket of `entry`; `None` if it is not in use, or damaged.
#[must_use]
pub const fn bucket(entry: u32) -> Option<usize> {
    match (entry >> COUNT_BITS) as usize {
        named @ 1..=BUCKETS => Some(named - 1),
        _ => None,
    }
}

const _: () = assert!(BUCKETS < 1 << (u32::BITS - COUNT_BITS));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_keeps_bucket_and_count_apart() {
        for index in 0..BUCKETS {
            let word = entry(index, LIMIT - 1);
            assert_eq!((bucket(word), count(word)), (Some(index), LIMIT - 1));
            assert!(is_of(word, index) && !is_of(word, index + 1));
        }
        assert!(!is_of(0, 0));
        assert_eq!(bucket(0), None);
        assert_eq!(bucket(u32::MAX), None);
    }
}
