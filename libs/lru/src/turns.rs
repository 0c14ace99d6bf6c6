//! Stripes that give up pages one after the other.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

/// Whose turn it is, of some stripes. Many threads may ask at once.
///
/// It is how [`ReclaimFrom::EachInTurn`](crate::ReclaimFrom::EachInTurn) chooses, on its own, for lists
/// that a program keeps itself. The paper (section 2) does not say how reclaim goes through stripes.
#[derive(Debug)]
#[repr(transparent)]
pub struct Turns<P: Platform>(P::U32);

/// How far one that takes turns has come through all stripes: [`Turns::next_in`].
#[derive(Debug, Default)]
#[repr(C)]
pub struct Round {
    /// Where it was last.
    stripe: u32,
    /// At how many stripes it was.
    visited: u32,
}

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

    /// Returns the next stripe of a round, of so many, and gives the turn to the one after it. Nothing is
    /// returned if the round has been at each.
    ///
    /// A round begins with the stripe whose turn it is. It comes to each stripe once, whoever else takes
    /// turns meanwhile. If nobody does, the next round begins where this one was left.
    pub fn next_in(&self, round: &mut Round, stripes: u32) -> Option<u32> {
        if round.visited == stripes {
            return None;
        }
        let turn = self.next(stripes);
        round.stripe = if round.visited == 0 { turn } else { (round.stripe + 1) % stripes };
        round.visited += 1;
        Some(round.stripe)
    }

    /// The stripe that had its turn last has the next one, too.
    pub fn repeat(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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
    fn a_round_begins_where_the_one_before_was_left() {
        let turns = Turns::<Native>::new();
        let mut round = Round::default();
        assert_eq!([(); 2].map(|()| turns.next_in(&mut round, 5)), [Some(0), Some(1)]);
        let mut round = Round::default();
        let order: [_; 6] = core::array::from_fn(|_| turns.next_in(&mut round, 5));
        assert_eq!(order, [Some(2), Some(3), Some(4), Some(0), Some(1), None]);
        assert_eq!(turns.next(5), 2);
    }

    #[test]
    fn a_stripe_has_its_turn_again() {
        let turns = Turns::<Native>::new();
        assert_eq!([turns.next(3), turns.next(3)], [0, 1]);
        turns.repeat();
        assert_eq!([turns.next(3), turns.next(3)], [1, 2]);
    }

    #[test]
    fn a_round_comes_to_each_stripe_though_others_take_their_turns() {
        let turns = Turns::<Native>::new();
        let mut round = Round::default();
        let order: [_; 4] = core::array::from_fn(|_| {
            let stripe = turns.next_in(&mut round, 3);
            turns.next(3);
            stripe
        });
        assert_eq!(order, [Some(0), Some(1), Some(2), None]);
    }
}
