//! Exact LRU: of all pages in memory, the one whose last use is the longest ago leaves.

use crate::hit_ratios::trace::PageNumber;

const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Entry {
    newer: u32,
    older: u32,
    page: PageNumber,
}

/// A cache of so many pages in one list, with the page that was used last at its head.
#[derive(Debug)]
pub struct ExactLru {
    capacity: usize,
    /// By page, the number of its entry or [`NONE`].
    place: Vec<u32>,
    entries: Vec<Entry>,
    newest: u32,
    oldest: u32,
}

impl ExactLru {
    /// Returns an empty cache of `capacity` pages, for pages whose numbers are less than `pages`.
    ///
    /// # Panics
    /// If the capacity is 0.
    #[must_use]
    pub fn new(capacity: u32, pages: u32) -> Self {
        assert!(capacity > 0, "a cache has room for a page");
        Self {
            capacity: capacity as usize,
            place: vec![NONE; pages as usize],
            entries: Vec::with_capacity(capacity as usize),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// Uses a page. Returns whether it was in memory.
    pub fn access(&mut self, page: PageNumber) -> bool {
        let entry = self.place[page.0 as usize];
        if entry != NONE {
            self.unlink(entry);
            self.link_newest(entry);
            return true;
        }
        let new = Entry { newer: NONE, older: NONE, page };
        let entry = if self.entries.len() < self.capacity {
            self.entries.push(new);
            self.entries.len() as u32 - 1
        } else {
            let entry = self.oldest;
            self.unlink(entry);
            self.place[self.entries[entry as usize].page.0 as usize] = NONE;
            self.entries[entry as usize] = new;
            entry
        };
        self.place[page.0 as usize] = entry;
        self.link_newest(entry);
        false
    }

    fn unlink(&mut self, entry: u32) {
        let Entry { newer, older, .. } = self.entries[entry as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.entries[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, entry: u32) {
        let behind = self.newest;
        self.entries[entry as usize].newer = NONE;
        self.entries[entry as usize].older = behind;
        match behind {
            NONE => self.oldest = entry,
            behind => self.entries[behind as usize].newer = entry,
        }
        self.newest = entry;
    }
}
