//! Below which last-level caches a clean line has copies, and since when.

use crate::sharers::Sharers;

/// For every line, the last-level caches one of whose cores has fetched it since it was last
/// written. May name too many after an eviction.
#[derive(Debug)]
pub(crate) struct CopiesBelow {
    caches: usize,
    present: Sharers,
    /// When the first copy arrived there, `[line * caches + cache]`.
    arrivals: Vec<u64>,
}

impl CopiesBelow {
    pub(crate) fn new(caches: usize) -> Self {
        Self { caches, present: Sharers::new(caches), arrivals: Vec::new() }
    }

    /// Makes room for one more line, without copies.
    pub(crate) fn push_line(&mut self) {
        self.present.push_line();
        self.arrivals.resize(self.arrivals.len() + self.caches, 0);
    }

    /// When the copy below a cache arrived or will, if there is one.
    #[inline]
    pub(crate) fn since(&self, line: usize, cache: u32) -> Option<u64> {
        let cache = cache as usize;
        self.present.contains(line, cache).then(|| self.arrivals[line * self.caches + cache])
    }

    /// A copy arrives below a cache at `time`.
    #[inline]
    pub(crate) fn insert(&mut self, line: usize, cache: u32, time: u64) {
        self.present.insert(line, cache as usize);
        self.arrivals[line * self.caches + cache as usize] = time;
    }

    /// All copies are gone.
    #[inline]
    pub(crate) fn clear(&mut self, line: usize) {
        self.present.clear(line);
    }
}
