//! Whose hit ratio is measured.

use kilocore_locks::Ttas;
use kilocore_lru::{
    Layout, MultiGeneration, Options, PageLists, Policy, S3Fifo, S3FifoOptions, Striped,
};
use kilocore_platform::Native;

use crate::hit_ratios::cache::Cache;
use crate::hit_ratios::exact::ExactLru;
use crate::hit_ratios::trace::{PageNumber, Trace};

/// The batch of all lists here, as in the paper on FinerLRU.
const BATCH: u32 = 15;

/// Something that decides which pages stay in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// What the others are compared with.
    Exact,
    /// FinerLRU with so many stripes and a policy.
    Striped(u32, Policy),
    /// S3-FIFO with the parameters of its paper, but with batches.
    S3Fifo,
    /// Generations of pages, as in Linux's multi-generational LRU.
    MultiGeneration,
}

impl Contender {
    /// Returns the share of a trace's uses that found their page in memory, in per cent.
    ///
    /// # Panics
    /// If the contender cannot be made for so few frames.
    #[must_use]
    pub fn hit_ratio(self, capacity: u32, trace: Trace) -> f64 {
        type Lock = Ttas<Native>;
        match self {
            Contender::Exact => {
                let mut cache = ExactLru::new(capacity, trace.pages());
                count(trace, |page| cache.access(page))
            }
            Contender::Striped(factor, policy) => {
                let options =
                    Options { layout: Layout::finer(factor), batch: BATCH, sorted: false };
                let lists: Striped<Native, Lock> =
                    Striped::with_policy(capacity, 1, options, policy).expect("in range");
                over(&lists, trace)
            }
            Contender::S3Fifo => {
                let options = S3FifoOptions { batch: BATCH, ..S3FifoOptions::PAPER };
                let lists: S3Fifo<Native, Lock> =
                    S3Fifo::new(capacity, 1, options).expect("in range");
                over(&lists, trace)
            }
            Contender::MultiGeneration => {
                let lists: MultiGeneration<Native, Lock> =
                    MultiGeneration::new(capacity, 1, BATCH).expect("in range");
                over(&lists, trace)
            }
        }
    }
}

fn over(lists: &impl PageLists<Native>, trace: Trace) -> f64 {
    let mut cache = Cache::new(lists, trace.pages());
    count(trace, |page| cache.access(page))
}

fn count(trace: Trace, mut access: impl FnMut(PageNumber) -> bool) -> f64 {
    let (mut uses, mut hits) = (0_u32, 0_u32);
    for page in trace {
        uses += 1;
        hits += u32::from(access(page));
    }
    100.0 * f64::from(hits) / f64::from(uses.max(1))
}
