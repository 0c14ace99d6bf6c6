//! Which lines have a place in a cache.

use crate::ids::{Id, LineId};

/// What a cache holds. It is set-associative. Each set is a ring of ways in the order in which their
/// lines leave it, and `next` is the way whose line leaves next.
///
/// The order is that in which the lines came, unless somebody [uses](Self::renew) a line again.
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

    /// Whether the cache can hold anything.
    pub(crate) fn has_room(&self) -> bool {
        self.sets > 0
    }

    /// Puts a line in that is not there, and returns the one that had to leave. A cache without
    /// capacity returns the line itself.
    pub(crate) fn insert(&mut self, line: LineId) -> Option<LineId> {
        self.insert_by(line.index(), line)
    }

    /// The same for a line whose set goes by `key` and not by its number.
    #[inline]
    pub(crate) fn insert_by(&mut self, key: usize, line: LineId) -> Option<LineId> {
        if self.sets == 0 {
            return Some(line);
        }
        let set = self.set(key);
        let way = usize::from(self.next[set]);
        self.next[set] = self.after(way) as u8;
        let tag = &mut self.tags[set * self.ways + way];
        let old = std::mem::replace(tag, line.0 + 1);
        (old != 0).then(|| LineId(old - 1))
    }

    /// A line that is there was used again, and leaves after all others of its set.
    #[inline]
    pub(crate) fn renew(&mut self, key: usize, line: LineId) {
        let Some((set, mut way)) = self.find(key, line) else { return };
        let next = usize::from(self.next[set]);
        if way == next {
            // Who would have left next leaves last, if the ring is turned.
            self.next[set] = self.after(way) as u8;
            return;
        }
        let ring = &mut self.tags[set * self.ways..(set + 1) * self.ways];
        loop {
            let after = if way + 1 == ring.len() { 0 } else { way + 1 };
            if after == next {
                break;
            }
            ring[way] = ring[after];
            way = after;
        }
        ring[way] = line.0 + 1;
    }

    /// Takes a line out, if it is there. Its way is the next to be filled.
    pub(crate) fn remove(&mut self, key: usize, line: LineId) {
        let Some((set, mut way)) = self.find(key, line) else { return };
        let ring = &mut self.tags[set * self.ways..(set + 1) * self.ways];
        let next = usize::from(self.next[set]);
        while way != next {
            let before = if way == 0 { self.ways - 1 } else { way - 1 };
            ring[way] = ring[before];
            way = before;
        }
        ring[way] = 0;
    }

    /// Whether a line is there.
    #[cfg(test)]
    pub(crate) fn contains(&self, key: usize, line: LineId) -> bool {
        self.find(key, line).is_some()
    }

    /// The set of a line and the way that it has there.
    #[inline(always)]
    fn find(&self, key: usize, line: LineId) -> Option<(usize, usize)> {
        if self.sets == 0 {
            return None;
        }
        let set = self.set(key);
        let ring = &self.tags[set * self.ways..(set + 1) * self.ways];
        let tag = line.0 + 1;
        // All ways are compared, eight at a time and without a branch. No two can be the same, so
        // the sum is that of the one, counted from 1.
        let (groups, rest) = ring.as_chunks::<8>();
        let mut found = 0;
        for (group, tags) in groups.iter().enumerate() {
            for (way, &other) in tags.iter().enumerate() {
                found += if other == tag { (group * 8 + way + 1) as u32 } else { 0 };
            }
        }
        if found == 0 {
            let way = rest.iter().position(|&other| other == tag)?;
            return Some((set, groups.len() * 8 + way));
        }
        Some((set, found as usize - 1))
    }

    /// The set of a line, by its key. Most caches have a power of two of them, and a division takes
    /// as long as all the rest.
    #[inline]
    fn set(&self, key: usize) -> usize {
        if self.sets.is_power_of_two() { key & (self.sets - 1) } else { key % self.sets }
    }

    #[inline]
    fn after(&self, way: usize) -> usize {
        if way + 1 == self.ways { 0 } else { way + 1 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::Tags;
    use crate::ids::LineId;
    use crate::random::Random;

    /// One set beside a queue that has what leaves first in front.
    #[test]
    fn a_set_is_a_queue_in_which_renewed_lines_go_to_the_back() {
        const WAYS: usize = 8;
        let mut random = Random::new(7, 0);
        let mut tags = Tags::new(WAYS, WAYS);
        let mut queue: VecDeque<LineId> = VecDeque::new();
        for _ in 0..10_000 {
            let line = LineId((random.bits() % 12) as u32);
            let there = queue.iter().position(|&other| other == line);
            match (there, random.bits() % 4) {
                (Some(at), 0) => {
                    tags.remove(0, line);
                    queue.remove(at);
                }
                (Some(at), _) => {
                    tags.renew(0, line);
                    queue.remove(at);
                    queue.push_back(line);
                }
                (None, 0) => tags.remove(0, line),
                (None, _) => {
                    let full = queue.len() == WAYS;
                    let leaves = if full { queue.pop_front() } else { None };
                    assert_eq!(tags.insert_by(0, line), leaves);
                    queue.push_back(line);
                }
            }
        }
    }
}
