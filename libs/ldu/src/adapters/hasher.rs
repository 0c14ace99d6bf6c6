//! A hash that is the same in every run and on every machine of one word size.
//!
//! Each word is folded into the state: the hasher multiplies to twice the width and combines the
//! two halves of the product by exclusive or. So all bits of the word influence the low bits, which
//! choose the bucket. The hash does not defend against an adversary, who can choose values that
//! collide.

use core::hash::{Hash, Hasher};

/// The factor of the multiplication. It is odd and has about as many ones as zeros. These are
/// digits of the golden ratio.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
/// The state at the beginning. It is not 0, so that a leading 0 changes the hash. These are digits
/// of the square root of two.
const SEED: u64 = 0x6A09_E667_F3BC_C908;

/// Returns the hash of a value.
#[inline]
pub(super) fn hash_of<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = Folding(SEED);
    value.hash(&mut hasher);
    hasher.finish()
}

struct Folding(u64);

impl Hasher for Folding {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::hash_of;

    /// Puts `keys` into as many buckets as there are keys, and returns how many are in the fullest.
    fn longest_chain(keys: impl ExactSizeIterator<Item = u64>) -> usize {
        let mut chains = alloc::vec![0; keys.len()];
        let mask = keys.len() as u64 - 1;
        for key in keys {
            chains[(hash_of(&key) & mask) as usize] += 1;
        }
        chains.into_iter().max().unwrap_or(0)
    }

    /// If 2^14 keys are put into 2^14 buckets at random, the probability that twelve keys share a
    /// bucket is about 2^14 / (e · 12!) = 0.00001.
    #[test]
    fn regular_keys_spread_over_the_buckets() {
        for shift in [0, 3, 6, 12, 21, 32, 48] {
            let longest = longest_chain((0..1_u32 << 14).map(|key| u64::from(key) << shift));
            assert!(longest < 12, "keys shifted by {shift}: a chain of {longest}");
        }
    }

    #[test]
    fn all_of_a_value_counts() {
        assert_ne!(hash_of("kilocore, a"), hash_of("kilocore, b"));
        assert_ne!(hash_of(&(0, 1)), hash_of(&(1, 0)));
        assert_ne!(hash_of(&[0_u64; 2]), hash_of(&[0_u64; 3]));
        assert_eq!(hash_of(&(7_u8, 8_u32)), hash_of(&(7_u8, 8_u32)));
    }
}
