//! Watches which pages are in somebody's hands, to find those that are released twice.

use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each page: it is allocated.
#[derive(Debug)]
pub(crate) struct Guard(Box<[AtomicU64]>);

impl Guard {
    pub(crate) fn new(pages: u32) -> Self {
        Self((0..pages.div_ceil(u64::BITS)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Notes that a page was allocated.
    ///
    /// # Panics
    /// If it is allocated already: then it was released twice, and somebody else has got it, too.
    pub(crate) fn allocated(&self, page: u32) {
        let (word, bit) = self.place(page);
        // Relaxed: whoever hands a page on orders it.
        let before = word.fetch_or(bit, Ordering::Relaxed);
        assert!(before & bit == 0, "page {page} is allocated twice: it was released twice");
    }

    /// Notes that a page is about to be released.
    ///
    /// # Panics
    /// If it is not allocated.
    pub(crate) fn released(&self, page: u32) {
        let (word, bit) = self.place(page);
        // Relaxed: as above.
        let before = word.fetch_and(!bit, Ordering::Relaxed);
        assert!(before & bit != 0, "page {page} is released, but it is not allocated");
    }

    fn place(&self, page: u32) -> (&AtomicU64, u64) {
        (&self.0[(page / u64::BITS) as usize], 1 << (page % u64::BITS))
    }
}
