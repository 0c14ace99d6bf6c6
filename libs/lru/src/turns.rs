//! Stripes that give up pages one after the other.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

/// Whose turn it is, of some stripes. Many threads may ask at once.
///
/// It is how [`ReclaimFrom::EachInTurn`](crate::ReclaimFrom::EachInTurn) chooses. The paper (section 2) does not say
/// how reclaim goes through stripes.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Turns<P: Platform>(P::U32);

impl<P: Platform> Turns<P> {
    /// It is the first stripe's turn.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self(P::U32::new(0))
    }

    /// Returns the stripe whose turn it is, of so many, and gives the turn to the next one.
    ///
    /// # Panics
    /// If there are no stripes.
    #[inline]
    pub(crate) fn next(&self, stripes: u32) -> u32 {
        // It orders nothing: a stripe's lock does that.
        self.0.fetch_add(1, Ordering::Relaxed) % stripes
    }
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;

    #[test]
    fn each_stripe_has_its_turn() {
        let turns = Turns::<Native>::new();
        let order: [u32; 7] = core::array::from_fn(|_| turns.next(3));
        assert_eq!(order, [0, 1, 2, 0, 1, 2, 0]);
    }
}
