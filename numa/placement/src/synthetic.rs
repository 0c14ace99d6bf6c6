//! References made up from shares and locality.
//!
//! Each processor refers to pages of its own and to shared ones in given shares, and reads and writes
//! both. A processor stays with a page for some references, then goes to another one: mostly to one of
//! a small set that it uses for a while (a phase), else to any. Only some of the shared pages are
//! written. The processor that is furthest behind on its clock goes on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use kilocore_platform::Cycles;
use kilocore_sim::Random;
use thiserror::Error;

use crate::memory::Memory;
use crate::policy::Burst;
use crate::units::{Page, Processor};

/// What references there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Synthetic {
    /// References of all processors together.
    pub references: u64,
    /// The share of reads of private pages, of writes to them, of reads of shared pages and of writes
    /// to those. They are 0 or more, and count by their sum.
    pub shares: [f64; 4],
    /// Private pages of each processor: at least 1.
    pub private_pages: u32,
    /// Shared pages: at least 1.
    pub shared_pages: u32,
    /// The share of shared pages that are written: over 0 to 1.
    pub written: f64,
    /// How many references to a shared page a processor makes in a row, on average: at least 1.
    pub run: f64,
    /// How many shared pages a processor uses mostly in a phase: at least 1.
    pub working_set: u32,
    /// The share of runs that go to those: 0 to 1.
    pub locality: f64,
    /// References of a processor to shared pages in a phase: at least 1.
    pub phase: u64,
    /// The seed of all pseudorandom numbers.
    pub seed: u64,
}

/// Why there are no such references.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SyntheticError {
    /// Shares that are negative or all 0.
    #[error("the four shares are 0 or more, and at least one is more")]
    Shares,
    /// Some share that is none.
    #[error("{0} is a share, from 0 to 1")]
    Share(&'static str),
    /// Something that there has to be at least one of.
    #[error("{0} is at least 1")]
    Count(&'static str),
}

impl Synthetic {
    /// References with the shares of a row of table 3 of Lee and Cho, in percent.
    #[must_use]
    pub fn with_shares(shares: [f64; 4]) -> Self {
        Self {
            references: 10_000_000,
            shares,
            private_pages: 8,
            shared_pages: 500,
            written: 0.5,
            run: 8.0,
            working_set: 20,
            locality: 0.9,
            phase: 50_000,
            seed: 1,
        }
    }

    /// Whether there are such references.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self) -> Result<(), SyntheticError> {
        let fine = self.shares.iter().all(|share| *share >= 0.0 && share.is_finite());
        if !fine || self.shares.iter().sum::<f64>() <= 0.0 {
            return Err(SyntheticError::Shares);
        }
        for (name, share) in [("written", self.written), ("locality", self.locality)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(SyntheticError::Share(name));
            }
        }
        let counts = [
            ("private pages", f64::from(self.private_pages)),
            ("shared pages", f64::from(self.shared_pages)),
            ("a run", self.run),
            ("the working set", f64::from(self.working_set)),
            ("a phase", self.phase as f64),
        ];
        match counts.iter().find(|(_, count)| !count.is_finite() || *count < 1.0) {
            Some(&(name, _)) => Err(SyntheticError::Count(name)),
            None => Ok(()),
        }
    }

    /// Makes the references. Pages of processors come before shared ones. Returns the time at which
    /// the last processor was done.
    ///
    /// # Errors
    /// As [`check`](Self::check) says.
    pub fn refer(&self, memory: &mut Memory) -> Result<Cycles, SyntheticError> {
        self.check()?;
        let processors = memory.machine().options().processors();
        for page in 0..processors * self.private_pages {
            memory.set_private(Page(page));
        }
        let mut walkers: Vec<Walker> =
            (0..processors).map(|processor| Walker::new(self, processors, processor)).collect();
        let mut turns: BinaryHeap<_> =
            (0..processors).map(|processor| Reverse((Cycles(0), processor))).collect();
        let mut left = self.references;
        while left > 0 {
            let Some(mut turn) = turns.peek_mut() else { break };
            let Reverse((now, processor)) = *turn;
            let (page, burst) = walkers[processor as usize].next();
            left -= 1;
            turn.0.0 = now + memory.refer(now, Processor(processor), page, burst);
        }
        Ok(turns.into_iter().map(|Reverse((now, _))| now).max().unwrap_or_default())
    }
}

/// A processor on its way from page to page.
struct Walker<'a> {
    what: &'a Synthetic,
    chance: Random,
    first_private: u32,
    first_shared: u32,
    /// Where each kind of reference begins, of 1.
    kinds: [f64; 3],
    working_set: Vec<u32>,
    left_of_phase: u64,
    page: u32,
}

impl<'a> Walker<'a> {
    fn new(what: &'a Synthetic, processors: u32, processor: u32) -> Self {
        let sum: f64 = what.shares.iter().sum();
        let [a, b, c, _] = what.shares.map(|share| share / sum);
        Self {
            what,
            chance: Random::new(what.seed, u64::from(processor)),
            first_private: processor * what.private_pages,
            first_shared: processors * what.private_pages,
            kinds: [a, a + b, a + b + c],
            working_set: Vec::new(),
            left_of_phase: 0,
            page: 0,
        }
    }

    fn below(&mut self, limit: u32) -> u32 {
        (self.chance.uniform() * f64::from(limit)) as u32
    }

    fn next(&mut self) -> (Page, Burst) {
        let kind = self.chance.uniform();
        let [private_reads, private, reads] = self.kinds;
        if kind < private {
            let page = self.first_private + self.below(self.what.private_pages);
            let burst = if kind < private_reads { Burst::READ } else { Burst::WRITE };
            return (Page(page), burst);
        }
        self.walk();
        let burst = if kind < reads { Burst::READ } else { Burst::WRITE };
        let mut page = self.page;
        if kind >= reads {
            // Those that are written come first.
            let written = (f64::from(self.what.shared_pages) * self.what.written).ceil() as u32;
            page %= written.max(1);
        }
        (Page(self.first_shared + page), burst)
    }

    /// Goes to another shared page now and then.
    fn walk(&mut self) {
        if self.left_of_phase == 0 {
            self.left_of_phase = self.what.phase;
            self.working_set =
                (0..self.what.working_set).map(|_| self.below(self.what.shared_pages)).collect();
            self.page = self.working_set[0];
        }
        self.left_of_phase -= 1;
        if self.chance.uniform() * self.what.run >= 1.0 {
            return;
        }
        self.page = if self.chance.uniform() < self.what.locality {
            let index = self.below(self.what.working_set);
            self.working_set[index as usize]
        } else {
            self.below(self.what.shared_pages)
        };
    }
}
