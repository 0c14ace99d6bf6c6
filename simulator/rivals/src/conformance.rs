//! The suite that every scheme passes: feature `conformance`.
//!
//! * [`alone`]: one thread, random operations on two roots, compared with a plain model.
//! * [`together`]: several threads, on whatever machine the caller runs them on; each knows of some
//!   objects where they are, and looks for them.
//!
//! Both drop everything at the end and count: each item was dropped once. The items and the structure
//! notice on their own what must not happen to them: an object that is inserted twice, removed from
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
