//! The suite that every scheme passes: feature `conformance`.
//!
//! * [`alone`]: one thread performs random operations on two roots and compares them with a plain
//!   model.
//! * [`together`]: several threads run on the machine that the caller chooses. Each thread knows
//!   where some of the objects are, and searches for them.
//!
//! Both drop everything at the end and check that each item was dropped once. The items and the
//! structure themselves detect the other errors: an object that is inserted twice, removed from
//! where it is not, changed while somebody reads it, or read after its end.
//!
//! ```
//! use kilocore_rivals::{Locked, conformance};
//! use kilocore_platform::Native;
//!
//! conformance::alone::<Native, Locked<Native>>(10_000, 1, |_| ());
//! ```

mod alone;
mod items;
mod together;

pub use alone::{Tally, alone};
pub use items::{Counts, Item, Multiset};
pub use together::{Job, Plan, together};

/// A pseudo-random sequence: xorshift with 64 bits (Marsaglia, 'Xorshift RNGs', 2003).
#[derive(Debug, Clone)]
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 32) as usize * bound) >> 32
    }
}
