//! What a walk of the tree knows.
//!
//! What a walk has of its body, and of the body or cell that it looks at, is in memory of the
//! thread's own. In the model these are variables of each process that all its functions share.

use kilocore_platform::Platform;

use crate::numa_programs::word::{Word, set_vector, words};

/// A walk of the tree for one body.
#[repr(C)]
pub(super) struct Walk<P: Platform> {
    position: [Word<P, f64>; 3],
    pub(super) acceleration: [Word<P, f64>; 3],
    pub(super) potential: Word<P, f64>,
    /// From the body to what acts on it.
    towards: [Word<P, f64>; 3],
    distance_squared: Word<P, f64>,
    /// How many have acted on it.
    pub(super) acted: Word<P, u32>,
}

impl<P: Platform> Walk<P> {
    pub(super) fn new() -> Self {
        Self {
            position: words(0.0),
            acceleration: words(0.0),
            potential: Word::new(0.0),
            towards: words(0.0),
            distance_squared: Word::new(0.0),
            acted: Word::new(0),
        }
    }

    pub(super) fn begin(&self, position: [f64; 3]) {
        set_vector(&self.position, position);
        set_vector(&self.acceleration, [0.0; 3]);
        self.potential.set(0.0);
        self.acted.set(0);
    }

    /// Looks at a place and returns the square of its distance.
    #[inline(always)]
    pub(super) fn look_at(&self, place: &[Word<P, f64>; 3]) -> f64 {
        let mut squared = 0.0;
        for (axis, place) in place.iter().enumerate() {
            let towards = place.get() - self.position[axis].get();
            self.towards[axis].set(towards);
            squared += towards * towards;
        }
        self.distance_squared.set(squared);
        squared
    }

    /// Lets a mass act that is where the walk looks at.
    #[inline(always)]
    pub(super) fn act(&self, mass: f64, softening_squared: f64) {
        let squared = self.distance_squared.get() + softening_squared;
        let potential = mass / squared.sqrt();
        self.potential.set(self.potential.get() - potential);
        let factor = potential / squared;
        for axis in 0..3 {
            self.acceleration[axis].add(factor * self.towards[axis].get());
        }
        self.acted.add(1);
    }
}
