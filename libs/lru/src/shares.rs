//! Stripes that give up pages by how many they have.

use kilocore_platform::{Atomic, Ordering, Platform};

/// Which stripe is to give up pages next, for lists that a program keeps itself, as Linux does. Many threads may ask
/// at once.
///
/// Each stripe gives up the same part of its pages as the others. A stripe's *turn* lasts until it has given up its
/// share. That of a stripe which has as many pages as the stripes have in the mean is a *batch*, that of one with twice
/// as many two. So pages stay in a list as long as they would in one for all stripes, if what is put in is spread over
/// the stripes, and if they have many times a batch. A stripe that has less gives up all of it in its turn, so a page which
/// has just come may go. The paper (section 2) does not say how reclaim goes through stripes. If their turns were equally
/// long, a page of a stripe that has few would go sooner.
///
/// Scans that want some of the pages alone, as those of certain zones, need a `Shares` of their own, because stripes have other
/// numbers of these.
#[derive(Debug)]
#[repr(C)]
pub struct Shares<P: Platform> {
    /// The upper half: whose turn it is. The lower half: how many pages of its share that stripe has given up.
    turn: P::U64,
    /// How many pages a stripe had in the mean when it was last looked. 0: nobody has looked.
    mean: P::U32,
}

/// A stripe that has more than so many times as many pages as the stripes were taken to have in the mean is a sign that they
/// have grown.
const GROWN: u32 = 8;

/// How far one that wants pages has come through the stripes. New for each number of pages.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Round {
    /// How many turns have begun and ended in it.
    ended: u32,
}

impl<P: Platform> Shares<P> {
    /// It is the first stripe's turn.
    #[must_use]
    pub fn new() -> Self {
        Self { turn: P::U64::new(0), mean: P::U32::new(0) }
    }

    /// Returns a stripe, of `stripes`, and how many pages it is to give up of the `wanted` ones. Both are positive.
    /// Nothing is returned if as many turns as there are stripes have begun and ended in this round, or no stripe has pages.
    ///
    /// `pages` says how many pages a stripe has. It is called for that stripe whose turn it is, and for all when the first
    /// one's turn begins, or when they seem to have grown. It may be wrong: then shares are.
    ///
    /// It orders nothing. Locks of stripes do that.
    pub fn next(
        &self,
        round: &mut Round,
        stripes: u32,
        wanted: u32,
        batch: u32,
        mut pages: impl FnMut(u32) -> u32,
    ) -> Option<(u32, u32)> {
        let mut seen = self.turn.load(Ordering::Relaxed);
        while round.ended < stripes {
            let (stripe, given) = ((seen >> 32) as u32 % stripes, seen as u32);
            let share = self.share(stripe, given, stripes, batch, &mut pages)?;
            let left = share.saturating_sub(given);
            let gives = wanted.min(left);
            let ends = gives == left;
            let now = if ends {
                u64::from((stripe + 1) % stripes) << 32
            } else {
                u64::from(stripe) << 32 | u64::from(given + gives)
            };
            if let Err(now) =
                self.turn.compare_exchange(seen, now, Ordering::Relaxed, Ordering::Relaxed)
            {
                // Those that another thread was told to take are not for this one.
                seen = now;
                continue;
            }
            round.ended += u32::from(ends && given == 0);
            if gives > 0 {
                return Some((stripe, gives));
            }
            seen = now;
        }
        None
    }

    /// Returns how many pages a stripe gives up in its turn, or nothing if no stripe has any.
    fn share(
        &self,
        stripe: u32,
        given: u32,
        stripes: u32,
        batch: u32,
        pages: &mut impl FnMut(u32) -> u32,
    ) -> Option<u32> {
        let has = pages(stripe);
        let mut mean = self.mean.load(Ordering::Relaxed);
        if mean == 0 || stripe == 0 && given == 0 || has / GROWN > mean {
            let all: u64 = (0..stripes).map(|stripe| u64::from(pages(stripe))).sum();
            mean = all.div_ceil(u64::from(stripes)) as u32;
            self.mean.store(mean, Ordering::Relaxed);
            if mean == 0 {
                return None;
            }
        }
        // Rounded up, so that each page has its turn.
        let share = (u64::from(batch) * u64::from(has)).div_ceil(u64::from(mean));
        Some(share.min(u64::from(has)) as u32)
    }
}

impl<P: Platform> Default for Shares<P> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use kilocore_platform::Native;
    use proptest::prelude::*;

    use super::*;

    /// Asks for `wanted` pages of stripes that get back what they give. Returns what each has given.
    fn ask(shares: &Shares<Native>, stripes: &[u32], wanted: u32) -> Vec<u32> {
        let (mut round, mut left, mut given) = (Round::default(), wanted, vec![0; stripes.len()]);
        while left > 0
            && let Some((stripe, gives)) =
                shares.next(&mut round, stripes.len() as u32, left, 32, |nth| stripes[nth as usize])
        {
            given[stripe as usize] += gives;
            left -= gives;
        }
        given
    }

    #[test]
    fn stripes_with_as_many_pages_give_a_batch_in_turn() {
        let shares = Shares::new();
        for stripe in [0, 1, 2, 0, 1] {
            let mut expected = [0; 3];
            expected[stripe] = 32;
            assert_eq!(ask(&shares, &[1000; 3], 32), expected);
        }
    }

    #[test]
    fn a_stripe_with_twice_the_pages_gives_twice_as_many() {
        let shares = Shares::new();
        let given: Vec<_> = (0..4).map(|_| ask(&shares, &[500, 1000, 0], 32)).collect();
        assert_eq!(given, [[32, 0, 0], [0, 32, 0], [0, 32, 0], [32, 0, 0]]);
    }

    #[test]
    fn what_a_stripe_lacks_the_next_ones_give() {
        let shares = Shares::new();
        assert_eq!(ask(&shares, &[0, 3, 0, 900], 32), [0, 1, 0, 31]);
        assert_eq!(ask(&Shares::new(), &[2, 2, 2], 32), [2, 2, 2], "each once, and that is all");
        assert_eq!(ask(&Shares::new(), &[0; 4], 32), [0; 4]);
    }

    #[test]
    fn shares_are_those_of_stripes_that_have_shrunk_a_cycle_of_turns_later() {
        let shares = Shares::new();
        ask(&shares, &[100_000; 4], 32);
        assert_eq!(ask(&shares, &[40; 4], 32), [29, 1, 1, 1]);
    }

    #[test]
    fn shares_are_those_of_stripes_that_have_grown_at_once() {
        let shares = Shares::new();
        assert_eq!(ask(&shares, &[10; 4], 15), [10, 5, 0, 0]);
        assert_eq!(ask(&shares, &[100_000; 4], 91), [0, 27, 32, 32]);
    }

    proptest! {
        /// In a scan of as many pages as there are, each stripe gives its share as often as the others, or once more.
        #[test]
        fn a_full_scan_comes_to_the_same_part_of_each_stripe(
            stripes in prop::collection::vec(prop_oneof![Just(0_u32), 1..40_u32, 1..5_000_u32], 1..40),
        ) {
            let shares = Shares::new();
            let all: u32 = stripes.iter().sum();
            let mean = all.div_ceil(stripes.len() as u32).max(1);
            let share_of = |&pages: &u32| (32 * pages).div_ceil(mean).min(pages);
            let cycles = all / stripes.iter().map(share_of).sum::<u32>().max(1);
            let (mut given, mut left) = (vec![0; stripes.len()], all);
            while left > 0 {
                let wanted = left.min(32);
                let asked = ask(&shares, &stripes, wanted);
                prop_assert_eq!(asked.iter().sum::<u32>(), wanted);
                given.iter_mut().zip(asked).for_each(|(sum, gives)| *sum += gives);
                left -= wanted;
            }
            for (given, share) in given.into_iter().zip(stripes.iter().map(share_of)) {
                prop_assert!((cycles * share..=(cycles + 1) * share).contains(&given), "{given}, {share}");
            }
        }
    }
}
