//! What a pool has done so far.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform};

use crate::tables::table;

/// What happens in a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    Hit,
    Miss,
    Eviction,
    Write,
    FailedRead,
    FailedWrite,
    Wait,
}

const EVENTS: usize = Event::Wait as usize + 1;

/// What a pool has done since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// How often a page was asked for that was in memory, or that another thread was reading.
    pub hits: u64,
    /// How often a page was asked for that was not.
    pub misses: u64,
    /// How many pages had to go to make room for others, or for a smaller capacity.
    pub evictions: u64,
    /// How many pages were written to the store.
    pub writes: u64,
    /// How often the store could not read a page.
    pub failed_reads: u64,
    /// How often the store could not write one.
    pub failed_writes: u64,
    /// How often a thread slept because all pages were pinned, or in use by the pool itself.
    pub waits: u64,
    /// How many pages are dirty now: the store does not have their last change.
    pub dirty: u32,
    /// How many pages may be in memory now.
    pub capacity: u32,
}

/// Counts on each core.
pub(crate) struct Counters<P: Platform>(Box<[Padded<[P::U64; EVENTS]>]>);

impl<P: Platform> Counters<P> {
    /// Returns counts that are all 0, or nothing if there is not so much memory.
    pub(crate) fn new(cores: u32) -> Option<Self> {
        let counts = |_| Padded(std::array::from_fn(|_| P::U64::new(0)));
        table(cores as usize, counts).map(Self)
    }

    pub(crate) fn count(&self, event: Event) {
        self.add(event, 1);
    }

    /// Counts so many at once. A negative number is one that wraps.
    pub(crate) fn add(&self, event: Event, number: u64) {
        let core = P::cpu().0 as usize % self.0.len();
        self.0[core][event as usize].fetch_add(number, Ordering::Relaxed);
    }

    fn total(&self, event: Event) -> u64 {
        let counts = self.0.iter().map(|counts| counts[event as usize].load(Ordering::Relaxed));
        counts.fold(0, u64::wrapping_add)
    }

    /// Returns all counts, with `uses` that were counted elsewhere.
    pub(crate) fn read(&self, uses: u64, dirty: u32, capacity: u32) -> Statistics {
        Statistics {
            hits: self.total(Event::Hit).wrapping_add(uses),
            misses: self.total(Event::Miss),
            evictions: self.total(Event::Eviction),
            writes: self.total(Event::Write),
            failed_reads: self.total(Event::FailedRead),
            failed_writes: self.total(Event::FailedWrite),
            waits: self.total(Event::Wait),
            dirty,
            capacity,
        }
    }
}
