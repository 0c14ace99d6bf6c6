//! How long operations took in a trial, by way and kind.

use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform};

use crate::policy::Kind;

/// Lines that the sums are spread over, by core.
const STRIPES: usize = 8;

/// What one operation counts for at most: some tenths of a millisecond. One that lasts longer has
/// lost its core, which is not for its way to answer for.
const LONGEST: u64 = 1 << 20;

/// Sums that operations add themselves to.
pub(super) struct Record<P: Platform> {
    stripes: [Padded<Stripe<P>>; STRIPES],
}

/// Count and cycles, of updates and reads, made directly and with a log.
struct Stripe<P: Platform> {
    words: [[[P::U64; 2]; 2]; 2],
}

/// How many there were and how long they took, all together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    pub(super) count: u64,
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
        Self { stripes: core::array::from_fn(stripe) }
    }

    /// Forgets everything. What is just being added may remain.
    pub(super) fn clear(&self) {
        let stripes = self.stripes.iter();
        for word in stripes.flat_map(|stripe| stripe.words.as_flattened().as_flattened()) {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Adds an operation to others, and says to how many.
    #[inline]
    pub(super) fn add(&self, logged: bool, kind: Kind, took: Cycles) -> u64 {
        let stripe = &self.stripes[P::cpu().0 as usize % STRIPES];
        let [count, cycles] = &stripe.words[usize::from(logged)][kind as usize];
        cycles.fetch_add(took.0.min(LONGEST), Ordering::Relaxed);
        count.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn sums(&self, logged: bool) -> Sums {
        let sum = |kind: Kind| {
            let mut sum = Sum::default();
            for stripe in &self.stripes {
                let [count, cycles] = &stripe.words[usize::from(logged)][kind as usize];
                sum.count += count.load(Ordering::Relaxed);
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
            count: self.count.saturating_sub(before.count),
            cycles: self.cycles.saturating_sub(before.cycles),
        }
    }

    /// What `count` of these would take, in 2^-16 cycles; those that never came take nothing.
    fn of(self, count: u64) -> u128 {
        let each = (u128::from(self.cycles) << 16) / u128::from(self.count.max(1));
        each * u128::from(count)
    }
}

impl Sums {
    pub(super) fn since(self, before: Self) -> Self {
        Self { updates: self.updates.since(before.updates), reads: self.reads.since(before.reads) }
    }

    pub(super) fn operations(self) -> u64 {
        self.updates.count + self.reads.count
    }

    /// Whether these operations take less time than `other`, both in the proportion of all of them.
    pub(super) fn costs_less_than(self, other: Self) -> bool {
        let updates = self.updates.count + other.updates.count;
        let reads = self.reads.count + other.reads.count;
        let cost = |sums: Self| sums.updates.of(updates) + sums.reads.of(reads);
        cost(self) < cost(other)
    }
}
