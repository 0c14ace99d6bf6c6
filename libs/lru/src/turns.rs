//! Stripes that give up pages one after the other.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

/// Whose turn it is, of some stripes. Many threads may ask at once.
///
/// It is how [`ReclaimFrom::EachInTurn`](crate::ReclaimFrom::EachInTurn) chooses, on its own, for lists
/// that a program keeps itself. The paper (section 2) does not say how reclaim goes through stripes.
#[derive(Debug)]
#[repr(transparent)]
pub struct Turns<P: Platform>(P::U32);

impl<P: Platform> Turns<P> {
    /// It is the first stripe's turn.
    #[must_use]
    pub fn new() -> Self {
        Self(P::U32::new(0))
    }

    /// Returns the stripe whose turn it is, of so many, and gives the turn to the next one.
    ///
    /// # Panics
    /// If there are no stripes.
    #[inline]
    pub fn next(&self, stripes: u32) -> u32 {
        // It orders nothing: a stripe's lock does that.
        self.0.fetch_add(1, Ordering::Relaxed) % stripes
    }

    /// Returns the next stripe of so many that has something, and gives the turn to the one after it. If no
    /// stripe has, nothing is returned.
    ///
    /// Those that have something get equally many turns, however many empty ones are between them. Others
    /// may take turns meanwhile, even each turn of the only stripe that has something. So after as many
    /// turns in vain as there are stripes, all are looked at, whosever turn it is.
    pub fn next_that(&self, stripes: u32, mut has_any: impl FnMut(u32) -> bool) -> Option<u32> {
        for _ in 0..stripes {
            let stripe = self.next(stripes);
            if has_any(stripe) {
                return Some(stripe);
            }
        }
        (0..stripes).find(|&stripe| has_any(stripe))
    }
}

impl<P: Platform> Default for Turns<P> {
    fn default() -> Self {
        Self::new()
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

    #[test]
    fn stripes_that_have_something_get_equally_many_turns() {
        let turns = Turns::<Native>::new();
        let order: [_; 6] =
            core::array::from_fn(|_| turns.next_that(16, |stripe| (5..7).contains(&stripe)));
        assert_eq!(order, [Some(5), Some(6), Some(5), Some(6), Some(5), Some(6)]);
    }

    #[test]
    fn a_stripe_is_found_though_others_take_its_turns() {
        let turns = Turns::<Native>::new();
        // Another thread has each turn of stripe 0.
        let only_first = |stripe| {
            turns.next(2);
            stripe == 0
        };
        turns.next(2);
        assert_eq!(turns.next_that(2, only_first), Some(0));
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        assert_eq!(Turns::<Native>::new().next_that(4, |_| false), None);
    }
}
