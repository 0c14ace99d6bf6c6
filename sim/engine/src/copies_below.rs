//! The last-level caches that have copies of a clean line, and since when.

use kilocore_platform::Cycles;

use crate::ids::{DomainId, Id, LineId};
use crate::sharers::Sharers;

/// For every line, the last-level caches one of whose cores has fetched it since it was last
/// written. After an eviction it may name too many.
#[derive(Debug)]
pub(crate) struct CopiesBelow {
    caches: usize,
    present: Sharers<DomainId>,
    /// When the first copy arrived there, `[line * caches + cache]`.
    arrivals: Vec<Cycles>,
}

impl CopiesBelow {
    pub(crate) fn new(caches: usize) -> Self {
        Self { caches, present: Sharers::new(caches), arrivals: Vec::new() }
    }

    /// Makes room for one more line, without copies.
    pub(crate) fn push_line(&mut self) {
        self.present.push_line();
        self.arrivals.resize(self.arrivals.len() + self.caches, Cycles(0));
    }

    /// When the copy below a cache arrived or will arrive, if there is one.
    #[inline]
    pub(crate) fn since(&self, line: LineId, cache: DomainId) -> Option<Cycles> {
        let arrival = line.index() * self.caches + cache.index();
        self.present.contains(line, cache).then(|| self.arrivals[arrival])
    }

    /// A copy arrives below a cache at `time`.
    #[inline]
    pub(crate) fn insert(&mut self, line: LineId, cache: DomainId, time: Cycles) {
        self.present.insert(line, cache);
        self.arrivals[line.index() * self.caches + cache.index()] = time;
    }

    /// All copies are gone.
    #[inline]
    pub(crate) fn clear(&mut self, line: LineId) {
        self.present.clear(line);
    }
}
