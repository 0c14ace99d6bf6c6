//! The memory of a program that guests execute: its pages, and what each core knows to be in its cache.

mod file_pages;
mod filter;
mod pages;
mod streams;

use std::ops::Range;

use kilocore_platform::Cycles;

use self::file_pages::FilePages;
pub use self::filter::Filter;
pub(crate) use self::pages::PAGE_BYTES;
use self::pages::Pages;
use self::streams::Streams;
use crate::coherence::{Loss, Lost};
use crate::ids::{CacheId, CoreId, Id};
use crate::table::Table;

/// The memory of the program that guests execute.
#[derive(Debug)]
pub(crate) struct GuestMemory {
    pub(crate) pages: Pages,
    /// Which of them are mapped files.
    pub(crate) files: FilePages,
    /// In boxes, as they are looked at while others are.
    pub(crate) filters: Table<CoreId, Box<Filter>>,
    pub(crate) streams: Table<CoreId, Streams>,
    /// When each core last did what others can notice.
    pub(crate) noticed: Table<CoreId, Cycles>,
    /// The cores of each private cache.
    cores: Table<CacheId, Vec<CoreId>>,
    lines_to_page: u32,
    line_shift: u32,
}

impl GuestMemory {
    /// Memory without pages, for cores with these caches.
    pub(crate) fn new(caches: &[CacheId], nodes: usize, line_shift: u32) -> Self {
        let most = caches.iter().map(|cache| cache.index() + 1).max().unwrap_or(0);
        let mut cores: Table<CacheId, Vec<CoreId>> = vec![Vec::new(); most].into();
        for (core, &cache) in caches.iter().enumerate() {
            cores[cache].push(CoreId::from_index(core));
        }
        let filters = caches.iter().map(|_| Box::new(Filter::new(line_shift)));
        Self {
            pages: Pages::new(nodes),
            files: FilePages::default(),
            filters: filters.collect::<Vec<_>>().into(),
            streams: vec![Streams::default(); caches.len()].into(),
            noticed: vec![Cycles(0); caches.len()].into(),
            cores,
            lines_to_page: PAGE_BYTES.trailing_zeros() - line_shift,
            line_shift,
        }
    }

    /// Lets the filters of a cache's cores know what it has lost.
    pub(crate) fn tell(&mut self, Loss { cache, key, lost }: Loss) {
        let Some(page) = self.pages.page(key >> self.lines_to_page) else { return };
        let line = page << self.lines_to_page | key as u64 & ((1 << self.lines_to_page) - 1);
        for &core in &self.cores[cache] {
            let filter = &mut self.filters[core];
            match lost {
                Lost::Copy => filter.remove(line),
                Lost::Ownership => filter.protect(line),
            }
        }
    }

    /// Takes all lines of pages that are gone out of the filters.
    pub(crate) fn forget(&mut self, pages: Range<u64>) {
        /// With more pages than this, each filter is emptied.
        const MANY: u64 = 256;
        for filter in self.filters.iter_mut() {
            if pages.end - pages.start > MANY {
                **filter = Filter::new(self.line_shift);
                continue;
            }
            let lines = pages.start << self.lines_to_page..pages.end << self.lines_to_page;
            lines.for_each(|line| filter.remove(line));
        }
    }
}
