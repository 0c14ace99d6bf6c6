//! The words of a [`SparseHistogram`](crate::SparseHistogram).
//!
//! The upper 8 bits of a word are the index of a bucket plus 1. The lower 24 bits are the bucket's
//! count. A word that is zero is not in use yet. If a count would reach [`LIMIT`], the word stays
//! as it is and the duration is counted elsewhere.

use crate::BUCKETS;

/// The number of buckets for which one cache line has room, beside the sum of the durations and a
/// reference.
pub const ENTRIES: usize = 13;

/// The number of bits of a count.
const COUNT_BITS: u32 = 24;

/// Counts stay below this limit. If several threads write, one of them may compare with the limit
/// and add only after others have added. So there must be room above the limit for what all of them
/// may add at once.
pub const LIMIT: u32 = 1 << (COUNT_BITS - 1);

/// Returns the word of `bucket`, which is below [`BUCKETS`], with count `count`, which is below
/// [`LIMIT`].
#[inline]
#[must_use]
pub const fn entry(bucket: usize, count: u32) -> u32 {
    (bucket as u32 + 1) << COUNT_BITS | count
}

/// Returns whether `entry` belongs to `bucket`.
#[inline]
#[must_use]
pub const fn is_of(entry: u32, bucket: usize) -> bool {
    entry >> COUNT_BITS == bucket as u32 + 1
}

/// Returns the count of `entry`.
#[inline]
#[must_use]
pub const fn count(entry: u32) -> u32 {
    entry & ((1 << COUNT_BITS) - 1)
}

/// Returns the bucket of `entry`, or `None` if the entry is not in use or is damaged.
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
