//! Where the keys come from: the generator of the NAS benchmarks.
//!
//! A deviate is the last one times 5¹³, modulo 2⁴⁶, and a key is the mean of four deviates (Bailey
//! and others, 'The NAS parallel benchmarks', 1991). The product takes 92 bits, so it is put
//! together from halves, in floating point, with powers of two that shift and cut. Code of that time
//! had such constants in memory and loaded them at each call, and so does this. They take most of
//! the program's private references.

use kilocore_platform::Platform;

use crate::numa_programs::random::Random;
use crate::numa_programs::word::Word;

/// Deviates that make a key.
pub(super) const PER_KEY: u32 = 4;

const FACTOR: u64 = 1_220_703_125;
const BITS: u32 = 46;
const HALF: f64 = (1u64 << (BITS / 2)) as f64;
const WHOLE: f64 = (1u64 << BITS) as f64;

/// A thread's generator with its constants, in memory of its own.
#[repr(C)]
pub(super) struct Deviates<P: Platform> {
    last: Word<P, f64>,
    factor: Word<P, f64>,
    half: Word<P, f64>,
    per_half: Word<P, f64>,
    whole: Word<P, f64>,
    per_whole: Word<P, f64>,
}

impl<P: Platform> Deviates<P> {
    pub(super) fn new() -> Self {
        Self {
            last: Word::new(1.0),
            factor: Word::new(FACTOR as f64),
            half: Word::new(HALF),
            per_half: Word::new(1.0 / HALF),
            whole: Word::new(WHOLE),
            per_whole: Word::new(1.0 / WHOLE),
        }
    }

    /// Goes to where `skipped` deviates of the seed's sequence have passed.
    pub(super) fn start(&self, seed: u64, skipped: u64) {
        self.last.set(state(seed, skipped) as f64);
    }

    /// The next deviate, in `0.0..1.0`.
    pub(super) fn next(&self) -> f64 {
        let (half, per_half) = (self.half.get(), self.per_half.get());
        let split = |number: f64| {
            let high = (per_half * number).trunc();
            (high, number - half * high)
        };
        let (factor_high, factor_low) = split(self.factor.get());
        let (high, low) = split(self.last.get());
        // All products have fewer than 53 bits, so all of this is exact.
        let (_, middle) = split(factor_high * low + factor_low * high);
        let sum = half * middle + factor_low * low;
        let (whole, per_whole) = (self.whole.get(), self.per_whole.get());
        let next = sum - whole * (per_whole * sum).trunc();
        self.last.set(next);
        per_whole * next
    }
}

/// The generator's state after so many deviates, by squaring.
pub(super) fn state(seed: u64, skipped: u64) -> u64 {
    // An odd state never becomes 0.
    let mut state = Random::new(seed, 0).bits() | 1;
    let (mut power, mut left) = (FACTOR, skipped);
    while left > 0 {
        if left % 2 == 1 {
            state = times(state, power);
        }
        power = times(power, power);
        left /= 2;
    }
    state & ((1 << BITS) - 1)
}

/// The next state, in integers.
pub(super) fn next_state(state: u64) -> u64 {
    times(state, FACTOR)
}

/// The deviate that a state is.
pub(super) fn deviate(state: u64) -> f64 {
    state as f64 / WHOLE
}

fn times(one: u64, other: u64) -> u64 {
    // What overflows 64 bits is cut off at 46 anyway.
    one.wrapping_mul(other) & ((1 << BITS) - 1)
}
