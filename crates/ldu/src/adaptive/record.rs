//! How long operations took in a trial, by way and kind.

use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform};

use crate::policy::Kind;

/// Lines that the sums are spread over, by core.
const STRIPES: usize = 8;

/// What one operation counts for at most, in means of the trial's first window. One that takes
/// longer has lost its core as a rule, which is not for its way to answer for, and would decide the
/// trial alone.
const LONGEST: u64 = 64;
/// But so many cycles in any case.
const SHORT: u64 = 1 << 16;

/// A log is worth keeping if 27 of its operations take less time than 25 without.
const WORTH: (u64, u64) = (27, 25);
/// One way costs far less than the other if so many of its operations take less time than one.
const FAR: u64 = 4;
/// For that each way has shown so many operations, and each kind of it so many.
const MANY: u64 = 64;
const FEW: u64 = 16;

/// Sums that operations add themselves to.
pub(super) struct Record<P: Platform> {
    /// What one operation counts for at most, in cycles. Relaxed: the order does not matter.
    longest: Padded<P::U64>,
    stripes: [Padded<Stripe<P>>; STRIPES],
}

/// How many began, how many ended and in how many cycles: of updates and reads, made directly and
/// with a log.
struct Stripe<P: Platform> {
    words: [[[P::U64; 3]; 2]; 2],
}

/// How many there were and how long they took, all together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) begun: u64,
    pub(super) ended: u64,
    pub(super) cycles: u64,
}

/// All operations of one way.
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

    /// Forgets everything. What is just being added may remain.
    pub(super) fn clear(&self) {
        let stripes = self.stripes.iter();
        for word in stripes.flat_map(|stripe| stripe.words.as_flattened().as_flattened()) {
            word.store(0, Ordering::Relaxed);
        }
        self.longest.store(u64::MAX, Ordering::Relaxed);
    }

    /// Takes the operations of the first window for the measure of those that follow.
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

    /// An operation begins.
    #[inline]
    pub(super) fn begin(&self, logged: bool, kind: Kind) {
        let [begun, ..] = self.words(logged, kind);
        begun.fetch_add(1, Ordering::Relaxed);
    }

    /// An operation ends; gives how many have before, as far as its core knows.
    #[inline]
    pub(super) fn end(&self, logged: bool, kind: Kind, took: Cycles) -> u64 {
        let [_, ended, cycles] = self.words(logged, kind);
        let counted = took.0.min(self.longest.load(Ordering::Relaxed));
        cycles.fetch_add(counted, Ordering::Relaxed);
        ended.fetch_add(1, Ordering::Relaxed)
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

    /// What one takes on average, in 2^-16 cycles, if there was any.
    fn mean(self) -> Option<u128> {
        (u128::from(self.cycles) << 16).checked_div(u128::from(self.ended))
    }

    /// What so many more take than as many of the other way. Nothing is held against a way in which
    /// there was none. Counted are those that began: of slow ones, more are under way at a window's
    /// end.
    fn excess(self, other: Self) -> i128 {
        match (self.mean(), other.mean()) {
            (Some(own), Some(others)) => {
                (own as i128 - others as i128) * i128::from(self.begun + other.begun)
            }
            _ => 0,
        }
    }
}

impl Sums {
    pub(super) fn since(self, before: Self) -> Self {
        Self { updates: self.updates.since(before.updates), reads: self.reads.since(before.reads) }
    }

    /// How many have ended.
    pub(super) fn operations(self) -> u64 {
        self.updates.ended + self.reads.ended
    }

    /// What an operation of the slower kind takes on average, in cycles.
    pub(super) fn longest_mean(self) -> u64 {
        let mean = |sum: Sum| sum.cycles / sum.ended.max(1);
        mean(self.updates).max(mean(self.reads))
    }

    /// Whether these operations take less time than `other`, both in the proportion of all of them.
    pub(super) fn costs_less_than(self, other: Self) -> bool {
        self.excess(other, 1, 1) < 0
    }

    /// Whether they take so much less time that it is worth keeping a log.
    pub(super) fn costs_clearly_less_than(self, other: Self) -> bool {
        let (more, than) = WORTH;
        self.excess(other, more, than) < 0
    }

    /// Whether that is so clear that more of them would not change it.
    pub(super) fn costs_far_less_than(self, other: Self) -> bool {
        let known = |own: Sum, others: Sum| {
            own.begun + others.begun == 0 || own.ended.min(others.ended) >= FEW
        };
        self.operations().min(other.operations()) >= MANY
            && known(self.updates, other.updates)
            && known(self.reads, other.reads)
            && self.excess(other, FAR, 1) < 0
    }

    /// What `own` as many of these take more than `others` as many of those of the other way.
    fn excess(self, other: Self, own: u64, others: u64) -> i128 {
        let scaled = |sum: Sum, by: u64| Sum { cycles: sum.cycles.saturating_mul(by), ..sum };
        let excess = |a: Sum, b: Sum| scaled(a, own).excess(scaled(b, others));
        excess(self.updates, other.updates) + excess(self.reads, other.reads)
    }
}
