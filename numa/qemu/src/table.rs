//! A thread's table of pages: what it counted in its quantum.
//!
//! A page has one place, by a few of its bits. A page that finds another one in its place pushes it out,
//! so each access needs one comparison and one addition. Arrays that are worked on together are often a
//! power of two apart, so higher bits count, too.

use kilocore_references::{Burst, PageNumber};

use crate::counts::Counts;

/// How many places there are. A quantum of 2,000 instructions uses some twenty pages.
const PLACES: usize = 128;
/// The place is empty. No address has such a page.
const EMPTY: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
struct TableEntry {
    page: u64,
    counts: Counts,
}

/// The place of a page.
#[inline(always)]
fn place_of(page: u64) -> usize {
    (page ^ page >> 7 ^ page >> 14) as usize % PLACES
}

const FREE: TableEntry = TableEntry { page: EMPTY, counts: Counts::NONE };

/// The pages that a thread has used lately in its quantum, each with its counts.
#[derive(Debug)]
pub(crate) struct Table {
    places: [TableEntry; PLACES],
    /// A bit for each place that is not empty.
    used: u128,
}

impl Table {
    pub(crate) const fn new() -> Self {
        Self { places: [FREE; PLACES], used: 0 }
    }

    /// Counts an access, if the page is there. Otherwise somebody has to [`bring`](Self::bring) it.
    #[inline(always)]
    pub(crate) fn count(&mut self, page: u64, counts: Counts) -> bool {
        let place = &mut self.places[place_of(page)];
        if place.page != page {
            return false;
        }
        place.counts.0 = place.counts.0.wrapping_add(counts.0);
        true
    }

    /// Puts a page into its place, with nothing counted. Returns what was there.
    pub(crate) fn bring(&mut self, page: u64) -> Option<Burst> {
        let index = place_of(page);
        let before = std::mem::replace(&mut self.places[index], TableEntry { page, ..FREE });
        let was_used = self.used & 1 << index != 0;
        self.used |= 1 << index;
        was_used.then(|| before.burst())
    }

    /// Takes a page out, if there is one.
    pub(crate) fn take(&mut self) -> Option<Burst> {
        if self.used == 0 {
            return None;
        }
        let index = self.used.trailing_zeros() as usize;
        self.used &= self.used - 1;
        Some(std::mem::replace(&mut self.places[index], FREE).burst())
    }
}

impl TableEntry {
    fn burst(self) -> Burst {
        let (reads, writes) = (self.counts.loads(), self.counts.stores());
        Burst { page: PageNumber(self.page), reads, writes }
    }
}
