//! Random numbers for inputs, the same on every host.
//!
//! The generator is SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): a counter, and a mixer of its
//! bits.

/// A seeded stream of random numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(seed ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// Draws a number from `0.0..1.0`, uniformly.
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// About normally distributed, with mean 0 and deviation 1: the sum of twelve uniform numbers,
    /// which needs no function that differs from one C library to the next.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// Draws 1 or -1, each as likely as the other.
    pub(crate) fn sign(&mut self) -> f64 {
        if self.bits() >> 63 == 0 { 1.0 } else { -1.0 }
    }
}

/// Mixes a value into a digest of a result.
pub(crate) fn digest(so_far: u64, value: u64) -> u64 {
    Random::new(so_far.rotate_left(5) ^ value, 1).bits()
}
