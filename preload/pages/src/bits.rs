//! A bit for each page of the pool.

use core::sync::atomic::{AtomicU64, Ordering};

/// A run of pages: the number of the first, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u32,
    pub(crate) pages: u32,
}

impl Run {
    /// Returns the word that has all bits of this run, if one has, and which of its bits these are.
    #[inline]
    fn only_word(self) -> Option<(usize, u64)> {
        let (word, offset) = ((self.first / u64::BITS) as usize, self.first % u64::BITS);
        let one = self.pages > 0 && self.pages <= u64::BITS - offset;
        one.then(|| (word, u64::MAX >> (u64::BITS - self.pages) << offset))
    }

    /// Returns the words that have bits of this run, and which of their bits these are.
    fn words(self) -> impl Iterator<Item = (usize, u64)> {
        let (mut at, end) = (self.first, self.first + self.pages);
        core::iter::from_fn(move || {
            if at == end {
                return None;
            }
            let (word, offset) = ((at / u64::BITS) as usize, at % u64::BITS);
            let count = (u64::BITS - offset).min(end - at);
            at += count;
            Some((word, u64::MAX >> (u64::BITS - count) << offset))
        })
    }
}

/// A bit for each page, which any thread may change.
///
/// All accesses are relaxed. A bit belongs to who has the page, and the pool, or the program, orders what
/// one owner does before what the next one does. Where two threads unmap the same page at the same
/// time, which is an error of the program, just one of them takes the bit.
#[derive(Debug)]
pub(crate) struct Bits(&'static [AtomicU64]);

impl Bits {
    /// Returns clear bits for so many pages.
    pub(crate) fn new(pages: u32) -> Self {
        Self(crate::tables::zeros(pages.div_ceil(u64::BITS) as usize))
    }

    #[inline]
    pub(crate) fn set(&self, run: Run) {
        for (word, mask) in run.words() {
            self.0[word].fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Returns whether all bits of a run are set.
    #[inline]
    pub(crate) fn all(&self, run: Run) -> bool {
        let is_set =
            |(word, mask): (usize, u64)| self.0[word].load(Ordering::Relaxed) & mask == mask;
        // Most runs are short, and this is asked at each call that alters a mapping.
        run.only_word().map_or_else(|| run.words().all(is_set), is_set)
    }

    /// Returns whether any bit of a run is set.
    pub(crate) fn any(&self, run: Run) -> bool {
        run.words().any(|(word, mask)| self.0[word].load(Ordering::Relaxed) & mask != 0)
    }

    /// Clears the bits of a run, and calls `each` with the longest runs of bits that were set.
    pub(crate) fn take(&self, run: Run, each: impl FnMut(Run)) {
        let take = |(word, mask): (usize, u64)| {
            (word, self.0[word].fetch_and(!mask, Ordering::Relaxed) & mask)
        };
        longest(run.words().map(take), each);
    }

    /// Calls `each` with the longest runs of bits that are set.
    pub(crate) fn each(&self, run: Run, each: impl FnMut(Run)) {
        let look = |(word, mask): (usize, u64)| (word, self.0[word].load(Ordering::Relaxed) & mask);
        longest(run.words().map(look), each);
    }

    /// Returns the first run of clear bits in a run, of those in one word.
    pub(crate) fn gap(&self, run: Run) -> Option<Run> {
        run.words().find_map(|(word, mask)| {
            let clear = !self.0[word].load(Ordering::Relaxed) & mask;
            let at = clear.trailing_zeros();
            (clear != 0).then(|| Run {
                first: word as u32 * u64::BITS + at,
                pages: (clear >> at).trailing_ones(),
            })
        })
    }

    /// Takes one bit, and returns whether it was set.
    pub(crate) fn take_one(&self, page: u32) -> bool {
        let bit = 1 << (page % u64::BITS);
        let word = &self.0[(page / u64::BITS) as usize];
        word.load(Ordering::Relaxed) & bit != 0
            && word.fetch_and(!bit, Ordering::Relaxed) & bit != 0
    }
}

/// Calls `each` with the longest runs of set bits in words in a row.
#[inline]
fn longest(words: impl Iterator<Item = (usize, u64)>, mut each: impl FnMut(Run)) {
    let mut open: Option<Run> = None;
    for (word, mut bits) in words {
        while bits != 0 {
            let at = bits.trailing_zeros();
            let count = (bits >> at).trailing_ones();
            bits &= !(u64::MAX >> (u64::BITS - count) << at);
            let first = word as u32 * u64::BITS + at;
            match &mut open {
                Some(open) if open.first + open.pages == first => open.pages += count,
                _ => {
                    if let Some(done) = open.replace(Run { first, pages: count }) {
                        each(done);
                    }
                }
            }
        }
    }
    if let Some(done) = open {
        each(done);
    }
}
