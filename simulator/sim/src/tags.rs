//! Which lines have a place in a cache.

use crate::ids::{Id, LineId};

/// What a cache holds. It is set-associative, and the line that came first into a set leaves it
/// first.
#[derive(Debug)]
pub(crate) struct Tags {
    ways: usize,
    sets: usize,
    /// Line numbers plus one; 0 is empty.
    tags: Vec<u32>,
    next: Vec<u8>,
}

impl Tags {
    pub(crate) fn new(lines: usize, ways: usize) -> Self {
        let sets = lines / ways;
        // Zeroed memory costs nothing until it is touched, so that a thousand caches are cheap.
        Self { ways, sets, tags: vec![0; sets * ways], next: vec![0; sets] }
    }

    /// Puts a line in that is not there, and returns the one that had to leave. A cache without
    /// capacity returns the line itself.
    pub(crate) fn insert(&mut self, line: LineId) -> Option<LineId> {
        if self.sets == 0 {
            return Some(line);
        }
        let set = line.index() % self.sets;
        let way = usize::from(self.next[set]);
        self.next[set] = ((way + 1) % self.ways) as u8;
        let tag = &mut self.tags[set * self.ways + way];
        let old = std::mem::replace(tag, line.0 + 1);
        (old != 0).then(|| LineId(old - 1))
    }
}
