//! Tiers of a generation, and which of them to protect.
//!
//! A page's tier says how often it was used. For each tier there are three counts: pages that left, that
//! stayed although it was their turn, and that left and came back. Nothing orders the counts: they are
//! estimates, and threads may lose a few when they are halved.

use core::array;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::state::State;

/// A tier: 0 for pages that were used once, 1 for twice, 2 for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tier(pub(crate) u32);

const TIERS: usize = 3;

impl Tier {
    pub(crate) const fn of(state: State) -> Self {
        Tier(state.uses().saturating_sub(1))
    }
}

/// A tier of which fewer pages came back is not protected: that may have been chance. As in Linux, it is
/// the number of frames that reclaim looks at together.
const ENOUGH: u64 = 64;

/// Counts of pages of a tier.
struct Counts<P: Platform> {
    left: P::U32,
    stayed: P::U32,
    came_back: P::U32,
}

/// The tiers of a class.
pub(crate) struct Tiers<P: Platform>([Counts<P>; TIERS]);

impl<P: Platform> Tiers<P> {
    pub(crate) fn new() -> Self {
        let zero = || P::U32::new(0);
        Self(array::from_fn(|_| Counts { left: zero(), stayed: zero(), came_back: zero() }))
    }

    fn at(&self, tier: Tier) -> &Counts<P> {
        &self.0[(tier.0 as usize).min(TIERS - 1)]
    }

    pub(crate) fn left(&self, tier: Tier) {
        self.at(tier).left.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stayed(&self, tier: Tier) {
        self.at(tier).stayed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn came_back(&self, tier: Tier) {
        self.at(tier).came_back.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the first tier whose pages come back more often than those of tier 0. It and all above it
    /// are protected.
    pub(crate) fn first_protected(&self) -> Option<Tier> {
        let read = |word: &P::U32| u64::from(word.load(Ordering::Relaxed));
        let rate = |counts: &Counts<P>| {
            (read(&counts.came_back), read(&counts.left) + read(&counts.stayed))
        };
        let (base_back, base_all) = rate(&self.0[0]);
        let comes_back_more = |tier: &Tier| {
            let (back, all) = rate(self.at(*tier));
            // back / all > base_back / base_all, and nothing is divided by zero.
            back >= ENOUGH && back * base_all.max(1) > base_back * all
        };
        (1..TIERS as u32).map(Tier).find(comes_back_more)
    }

    /// A generation has ended. What was counted before counts half from now on.
    pub(crate) fn age(&self) {
        for counts in &self.0 {
            for word in [&counts.left, &counts.stayed, &counts.came_back] {
                word.store(word.load(Ordering::Relaxed) / 2, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;

    #[test]
    fn a_tier_whose_pages_come_back_more_is_protected() {
        let tiers = Tiers::<Native>::new();
        assert_eq!(tiers.first_protected(), None);
        for page in 0..1000 {
            tiers.left(Tier(0));
            tiers.left(Tier(1));
            tiers.left(Tier(2));
            if page % 10 == 0 {
                tiers.came_back(Tier(0));
                tiers.came_back(Tier(1));
            }
            if page % 5 == 0 {
                tiers.came_back(Tier(2));
            }
        }
        assert_eq!(tiers.first_protected(), Some(Tier(2)));
        tiers.age();
        assert_eq!(tiers.first_protected(), Some(Tier(2)));
        // Too few are left to tell.
        tiers.age();
        assert_eq!(tiers.first_protected(), None);
    }
}
