//! RADIX: a parallel radix sort of integers.
//!
//! # The idea
//! Keys are sorted digit by digit, the least significant first. In each pass, a thread
//! 1. counts how often each digit occurs in its share of the keys;
//! 2. adds up, for its share of the digits, what all threads have counted, so that each thread
//!    learns where its keys of each digit go;
//! 3. moves its keys there, into the other of two arrays.
//!
//! The third step writes to scattered places all over the shared array. That is what makes the
//! program hard on memory. As in its model, the threads also make the keys: see [`deviates`].
//!
//! # Where it departs from its model
//! * The counts of all threads are added up by columns, each thread those of a share of the digits.
//!   SPLASH-2 has a tree of threads for it.
//! * A thread counts and ranks in memory of its own, and only then tells others.

mod check;
mod deviates;
mod summary;

use core::ops::Range;

use kilocore_platform::Platform;

use self::deviates::{Deviates, PER_KEY};
pub use self::summary::Summary;
use crate::numa_programs::barrier::Barrier;
use crate::numa_programs::error::{OutOfRange, WrongResult, count_in_range};
use crate::numa_programs::pages::Pages;
use crate::numa_programs::run::{self, Algorithm};
use crate::numa_programs::shares::share;
use crate::numa_programs::word::Word;

/// The keys that RADIX sorts, and by how many bits at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// How many keys: 1 to 2²⁴.
    pub keys: usize,
    /// Bits of a key: 1 to 32.
    pub key_bits: u32,
    /// Bits of a digit, of which 2 to that power are told apart in a pass: 1 to 12.
    pub digit_bits: u32,
}

impl Parameters {
    /// Near the published count of references.
    pub const PUBLISHED: Self = Self { keys: 524_288, key_bits: 32, digit_bits: 10 };
    /// A small problem, for tests.
    pub const SMALL: Self = Self { keys: 4096, key_bits: 16, digit_bits: 6 };

    pub(crate) fn validate(self) -> Result<(), OutOfRange> {
        count_in_range("keys", self.keys, 1, 1 << 24)?;
        count_in_range("bits of a key", self.key_bits as usize, 1, 32)?;
        count_in_range("bits of a digit", self.digit_bits as usize, 1, 12)
    }

    fn passes(self) -> u32 {
        self.key_bits.div_ceil(self.digit_bits)
    }
}

/// What a thread keeps to itself.
struct Own<P: Platform> {
    deviates: Pages<Deviates<P>>,
    /// How often each digit occurs, and later where its next key goes.
    ranks: Pages<Word<P, u32>>,
}

pub(crate) struct Radix<P: Platform> {
    parameters: Parameters,
    threads: usize,
    seed: u64,
    /// A pass moves the keys from one to the other.
    keys: [Pages<Word<P, u32>>; 2],
    /// A row of counts for each thread. Of each column, the threads before are added up in place.
    counts: Pages<Word<P, u32>>,
    /// The keys in each thread's share of the digits.
    totals: Pages<Word<P, u32>>,
    barrier: Pages<Barrier<P>>,
    own: Vec<Own<P>>,
}

impl<P: Platform> Radix<P> {
    pub(crate) fn new(parameters: Parameters, threads: usize, seed: u64) -> Self {
        let zeros = |len| Pages::new(len, |_| Word::new(0));
        let digits = 1 << parameters.digit_bits;
        Self {
            parameters,
            threads,
            seed,
            keys: [zeros(parameters.keys), zeros(parameters.keys)],
            counts: zeros(threads * digits),
            totals: zeros(threads),
            barrier: Pages::new(1, |_| Barrier::new(threads)),
            own: (0..threads)
                .map(|_| Own { deviates: Pages::new(1, |_| Deviates::new()), ranks: zeros(digits) })
                .collect(),
        }
    }

    fn digits(&self) -> usize {
        1 << self.parameters.digit_bits
    }

    fn digit(&self, key: u32, pass: u32) -> usize {
        (key >> (pass * self.parameters.digit_bits)) as usize & (self.digits() - 1)
    }

    fn row(&self, thread: usize) -> &[Word<P, u32>] {
        &self.counts[thread * self.digits()..][..self.digits()]
    }

    fn share(&self, thread: usize) -> Range<usize> {
        share(self.parameters.keys, thread, self.threads)
    }

    /// The array from which a pass takes the keys. The last pass leaves them where one more would.
    fn keys_before(&self, pass: u32) -> &[Word<P, u32>] {
        &self.keys[pass as usize % 2]
    }

    fn make_keys(&self, me: usize) {
        let share = self.share(me);
        let deviates = &self.own[me].deviates[0];
        deviates.start(self.seed, share.start as u64 * u64::from(PER_KEY));
        let scale = 2f64.powi(self.parameters.key_bits as i32);
        for key in &self.keys[0][share] {
            let sum: f64 = (0..PER_KEY).map(|_| deviates.next()).sum();
            key.set((sum / f64::from(PER_KEY) * scale) as u32);
        }
    }

    /// Counts the digits of this thread's keys and tells the others.
    fn count(&self, me: usize, pass: u32) {
        let counts = &self.own[me].ranks;
        for count in &**counts {
            count.set(0);
        }
        for key in &self.keys_before(pass)[self.share(me)] {
            counts[self.digit(key.get(), pass)].add(1);
        }
        for (told, count) in self.row(me).iter().zip(&**counts) {
            told.set(count.get());
        }
    }

    /// Adds up the counts of this thread's share of the digits. A count becomes the place of the
    /// first such key, seen from the beginning of the share.
    fn add_up(&self, me: usize) {
        let mut place = 0;
        for digit in share(self.digits(), me, self.threads) {
            for thread in 0..self.threads {
                let word = &self.row(thread)[digit];
                let count = word.get();
                word.set(place);
                place += count;
            }
        }
        self.totals[me].set(place);
    }

    /// Moves this thread's keys to where they go.
    fn permute(&self, me: usize, pass: u32) {
        let (row, ranks) = (self.row(me), &self.own[me].ranks);
        let mut base = 0;
        for thread in 0..self.threads {
            for digit in share(self.digits(), thread, self.threads) {
                ranks[digit].set(base + row[digit].get());
            }
            base += self.totals[thread].get();
        }
        let to = self.keys_before(pass + 1);
        for key in &self.keys_before(pass)[self.share(me)] {
            let key = key.get();
            let rank = &ranks[self.digit(key, pass)];
            let place = rank.get();
            rank.set(place + 1);
            to[place as usize].set(key);
        }
    }
}

impl<P: Platform> Algorithm for Radix<P> {
    fn thread(&self, me: usize) {
        let barrier = &self.barrier[0];
        self.make_keys(me);
        for pass in 0..self.parameters.passes() {
            self.count(me, pass);
            barrier.wait();
            self.add_up(me);
            barrier.wait();
            self.permute(me, pass);
            barrier.wait();
        }
    }

    fn check(&self) -> Result<run::Summary, WrongResult> {
        check::check(self).map(run::Summary::Radix)
    }

    fn private_memory(&self) -> Vec<(usize, Range<usize>)> {
        let own = self.own.iter().enumerate();
        own.flat_map(|(thread, own)| {
            [(thread, own.deviates.addresses()), (thread, own.ranks.addresses())]
        })
        .collect()
    }

    fn shared_memory(&self) -> Vec<Range<usize>> {
        let [first, second] = &self.keys;
        let words = [first, second, &self.counts, &self.totals];
        let words = words.into_iter().map(Pages::addresses);
        words.chain([self.barrier.addresses()]).collect()
    }
}
