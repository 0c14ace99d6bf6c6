//! How long the operations of a trial took, kept apart by way (direct or logged) and by kind
//! (update or read).

use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform};

use crate::policy::Kind;

/// The number of stripes that the sums are spread over, so that cores do not all write the same
/// cache lines.
const STRIPES: usize = 8;

/// The most that one operation counts for, as a multiple of the mean operation in the trial's first
/// window. An operation that takes longer than this has usually lost its core. That is not the
/// fault of its way, and it would decide the trial alone.
const LONGEST: u64 = 64;
/// The limit of what one operation counts for is never below this number of cycles.
const SHORT: u64 = 1 << 16;
/// The most that applying the rest of a log at the end of a window counts for, as a multiple of the
/// most that one operation counts for.
const REMNANT: u64 = 16;

/// A log is worth keeping if 27 operations with it take less time than 25 operations without.
const WORTH: (u64, u64) = (27, 25);
/// A way is hopeless if the time that it takes more than the other way, times the number of
/// operations seen, is more than this many times the time of the other way. For example, a way is
/// hopeless if it takes 8 times as long after 32 operations, or twice as long after 224.
const HOPELESS: u64 = 224;
/// Before a way can be called hopeless, at least this many operations of each way must have ended.
const MANY: u64 = 32;
/// If fewer operations of a kind were seen than this, their mean says little about the kind.
const FEW: u64 = 16;

/// The value of [`Sums::waste`] if all time was wasted.
pub(super) const WASTE_OF_ALL: u64 = 1000;

/// Sums that operations add themselves to.
pub(super) struct Record<P: Platform> {
    /// The most that one operation counts for, in cycles. Relaxed: the order does not matter.
    longest: Padded<P::U64>,
    stripes: [Padded<Stripe<P>>; STRIPES],
}

/// For each way and each kind: how many operations began, how many ended, and how many cycles those
/// that ended took. The first index is the way (0 is direct, 1 is logged), the second is the kind.
struct Stripe<P: Platform> {
    words: [[[P::U64; 3]; 2]; 2],
}

/// The number of operations of one way and one kind, and the time that they took together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) cycles: u64,
}

/// The operations of one way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sums {
    pub(super) updates: Sum,
    pub(super) reads: Sum,
}

impl<P: Platform> Record<P> {
    pub(super) fn new() -> Self {
        let word = |_| P::U64::new(0);
        let pair = |_| core::array::from_fn(word);
        let kinds = |_| core::array::from_fn(pair);
        let stripe = |_| Padded(Stripe { words: core::array::from_fn(kinds) });
        Self { longest: Padded(P::U64::new(u64::MAX)), stripes: core::array::from_fn(stripe) }
    }

    /// Sets everything to zero. What other threads add at the same moment may remain.
    pub(super) fn clear(&self) {
        let stripes = self.stripes.iter();
        for word in stripes.flat_map(|stripe| stripe.words.as_flattened().as_flattened()) {
            word.store(0, Ordering::Relaxed);
        }
        self.longest.store(u64::MAX, Ordering::Relaxed);
    }

    /// Limits what a single operation counts for from now on, given the operations of the trial's
    /// first window.
    pub(super) fn take_measure(&self, first: Sums) {
        let cycles = first.updates.cycles.saturating_add(first.reads.cycles);
        let mean = cycles / first.operations().max(1);
        self.longest.store(mean.saturating_mul(LONGEST).max(SHORT), Ordering::Relaxed);
    }

    #[inline]
    fn words(&self, logged: bool, kind: Kind) -> &[P::U64; 3] {
        let stripe = &self.stripes[P::cpu().0 as usize % STRIPES];
        &stripe.words[usize::from(logged)][kind as usize]
    }

    /// Counts an operation that begins.
    #[inline]
    pub(super) fn begin(&self, logged: bool, kind: Kind) {
        let [begun, ..] = self.words(logged, kind);
        begun.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds an operation that has ended. Returns how many operations of its way and kind had ended
    /// before, as far as the stripe of the caller's core knows.
    #[inline]
    pub(super) fn end(&self, logged: bool, kind: Kind, took: Cycles) -> u64 {
        let [_, ended, cycles] = self.words(logged, kind);
        let counted = took.0.min(self.longest.load(Ordering::Relaxed));
        cycles.fetch_add(counted, Ordering::Relaxed);
        ended.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds the time in which the rest of a log was applied after its window had ended. It is added
    /// to the cost of logged updates.
    pub(super) fn add_to_logged(&self, took: Cycles) {
        let [_, _, cycles] = self.words(true, Kind::Update);
        let most = self.longest.load(Ordering::Relaxed).saturating_mul(REMNANT);
        cycles.fetch_add(took.0.min(most), Ordering::Relaxed);
    }

    pub(super) fn sums(&self, logged: bool) -> Sums {
        let sum = |kind: Kind| {
            let mut sum = Sum::default();
            for stripe in &self.stripes {
                let [begun, ended, cycles] = &stripe.words[usize::from(logged)][kind as usize];
                sum.begun += begun.load(Ordering::Relaxed);
                sum.ended += ended.load(Ordering::Relaxed);
                sum.cycles += cycles.load(Ordering::Relaxed);
            }
            sum
        };
        Sums { updates: sum(Kind::Update), reads: sum(Kind::Read) }
    }
}

impl Sum {
    fn since(self, before: Self) -> Self {
        Self {
            begun: self.begun.saturating_sub(before.begun),
            ended: self.ended.saturating_sub(before.ended),
            cycles: self.cycles.saturating_sub(before.cycles),
        }
    }

    /// Returns the mean time of an operation in units of 2^-16 cycles, or `None` if none has ended.
    fn mean(self) -> Option<u128> {
        (u128::from(self.cycles) << 16).checked_div(u128::from(self.ended))
    }

    /// Returns how many operations of this kind have begun in both ways together. The kind gets
    /// this weight when the two ways are compared.
    fn times(self, other: Self) -> u64 {
        self.begun + other.begun
    }

    /// Returns how much more time all operations of this kind take in this way than in the other.
    /// It is 0 if one of the two ways had none of them. The weight is the number of operations that
    /// began, not the number that ended, because slow ones are more often under way when a window
    /// ends.
    fn excess(self, other: Self) -> i128 {
        match (self.mean(), other.mean()) {
            (Some(own), Some(others)) => {
                (own as i128 - others as i128) * i128::from(self.times(other))
            }
            _ => 0,
        }
    }
}

impl Sums {
    pub(super) fn since(self, before: Self) -> Self {
        Self { updates: self.updates.since(before.updates), reads: self.reads.since(before.reads) }
    }

    /// Returns how many operations have ended.
    pub(super) fn operations(self) -> u64 {
        self.updates.ended + self.reads.ended
    }

    /// Returns how many operations have begun and not ended.
    pub(super) fn under_way(self) -> u64 {
        let of = |sum: Sum| sum.begun.saturating_sub(sum.ended);
        of(self.updates) + of(self.reads)
    }

    /// Returns the mean time of an operation of the slower kind, in cycles.
    pub(super) fn longest_mean(self) -> u64 {
        let mean = |sum: Sum| sum.cycles / sum.ended.max(1);
        mean(self.updates).max(mean(self.reads))
    }

    /// Returns whether this way takes less time than `other`. In both ways, updates and reads are
    /// weighted by their shares in all operations of both ways.
    pub(super) fn costs_less_than(self, other: Self) -> bool {
        self.excess(other, 1, 1) < 0
    }

    /// Returns whether this way takes so much less time than `other` that a log is worth keeping.
    pub(super) fn costs_clearly_less_than(self, other: Self) -> bool {
        let (more, than) = WORTH;
        self.excess(other, more, than) < 0
    }

    /// Returns whether this way takes so much less time than `other` that further operations would
    /// not change the result. If few operations of a kind were seen, the kind is assumed to be
    /// expensive in this way and to cost nothing in the other.
    pub(super) fn costs_far_less_than(self, other: Self) -> bool {
        let shown = self.operations().min(other.operations());
        if shown < MANY {
            return false;
        }
        let kinds = [(self.updates, other.updates), (self.reads, other.reads)];
        let (mut most, mut others_least) = (0, 0);
        for (own, others) in kinds {
            let times = u128::from(own.times(others));
            let Some(mean) = own.mean().or((times == 0).then_some(0)) else { return false };
            most += mean * times * u128::from(FEW) / u128::from(own.ended.clamp(1, FEW));
            let known = others.mean().filter(|_| others.ended >= FEW);
            others_least += known.unwrap_or(0) * times;
        }
        others_least.saturating_sub(most) * u128::from(shown) > most * u128::from(HOPELESS)
    }

    /// Returns the share of this way's time that would have been saved in the `other` way, from 0
    /// to [`WASTE_OF_ALL`]. The weights are those of [`costs_less_than`](Self::costs_less_than).
    pub(super) fn waste(self, other: Self) -> u64 {
        let cost = |own: Sum, others: Sum| own.mean().unwrap_or(0) * u128::from(own.times(others));
        let own = cost(self.updates, other.updates) + cost(self.reads, other.reads);
        let saved = self.excess(other, 1, 1).max(0) as u128;
        let all = u128::from(WASTE_OF_ALL);
        (saved * all).checked_div(own).unwrap_or(0).min(all) as u64
    }

    /// Returns how much more time `own` times the operations take in this way than `others` times
    /// the operations take in the other way.
    fn excess(self, other: Self, own: u64, others: u64) -> i128 {
        let scaled = |sum: Sum, by: u64| Sum { cycles: sum.cycles.saturating_mul(by), ..sum };
        let excess = |a: Sum, b: Sum| scaled(a, own).excess(scaled(b, others));
        excess(self.updates, other.updates) + excess(self.reads, other.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::{Sum, Sums, WASTE_OF_ALL};

    fn sum(ended: u64, mean: u64) -> Sum {
        Sum { begun: ended, ended, cycles: ended * mean }
    }

    fn updates(ended: u64, mean: u64) -> Sums {
        Sums { updates: sum(ended, mean), reads: Sum::default() }
    }

    #[test]
    fn the_more_was_seen_the_smaller_a_difference_is_plain() {
        let plain = |ended, ratio| updates(256, 1000).costs_far_less_than(updates(ended, ratio));
        assert!(!plain(31, 1_000_000), "too few to say anything");
        assert!(plain(32, 8001) && !plain(32, 7999));
        assert!(plain(224, 2001) && !plain(224, 1999));
        assert!(!updates(256, 0).costs_far_less_than(updates(256, 0)), "a clock that stands still");
    }

    #[test]
    fn a_kind_of_which_little_was_seen_is_taken_at_its_worst() {
        let ways = |reads: u64, others_reads: u64| {
            let own = Sums { updates: sum(1000, 1), reads: sum(reads, 1000) };
            let other = Sums { updates: sum(100, 500), reads: sum(others_reads, 1000) };
            own.costs_far_less_than(other)
        };
        assert!(!ways(0, 4), "nobody knows what reads take");
        assert!(ways(16, 0) && ways(2, 0), "even if reads were free in the other way");
        let reads = |others_mean| {
            let own = Sums { updates: sum(100, 1), reads: sum(100, 1000) };
            own.costs_far_less_than(Sums { updates: sum(100, 1), reads: sum(100, others_mean) })
        };
        assert!(reads(5000) && !reads(2000));
        assert!(ways(16, 40) && !ways(1, 40), "one read may have been a lucky one");
    }

    #[test]
    fn waste_is_what_would_have_been_saved() {
        assert_eq!(updates(100, 1000).waste(updates(50, 250)), WASTE_OF_ALL * 3 / 4);
        assert_eq!(updates(100, 250).waste(updates(50, 1000)), 0);
        assert_eq!(Sums::default().waste(updates(50, 1000)), 0);
    }
}
