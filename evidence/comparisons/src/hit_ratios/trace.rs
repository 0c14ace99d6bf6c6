//! Traces: which page is used next. A trace is made by a seed, and is the same each time.
//!
//! All sizes are in proportion to the cache, so that caches of all sizes have to do the same work.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::hit_ratios::zipf::Zipf;

/// The number of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNumber(pub u32);

/// The exponent of the Zipf distributions. Those published of storage and of web caches lie around it.
const EXPONENT: f64 = 0.9;
/// So many times as many pages as frames are in a Zipf distribution.
const PAGES_PER_FRAME: u32 = 10;

/// What a trace does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Pages come by a Zipf distribution over ten times as many pages as the cache holds.
    Zipf,
    /// The same, and after each as many uses as the cache has frames, so many pages are read in order that
    /// nobody has used or will use again.
    Scans,
    /// A tenth more pages than the cache holds, one after the other, again and again.
    Loop,
    /// Zipf, and after each ten times as many uses as the cache has frames, other pages are the popular
    /// ones: a third of all further on.
    Phases,
    /// Three quarters as many pages as the cache holds, one after the other, again and again. After each
    /// twenty times as many uses as the cache has frames, it is other pages.
    WorkingSets,
}

impl Kind {
    /// The kinds in the order in which the page shows them.
    pub const ALL: [Kind; 5] =
        [Kind::Zipf, Kind::Scans, Kind::Loop, Kind::Phases, Kind::WorkingSets];

    /// Returns its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Zipf => "Zipf",
            Kind::Scans => "Zipf and scans",
            Kind::Loop => "loop",
            Kind::Phases => "phases",
            Kind::WorkingSets => "working sets",
        }
    }
}

/// A trace, use by use.
#[derive(Debug)]
pub struct Trace {
    kind: Kind,
    capacity: u32,
    left: u32,
    done: u32,
    /// The next page that nobody has used.
    fresh: u32,
    zipf: Zipf,
    chance: Xoshiro256PlusPlus,
}

impl Trace {
    /// Returns a trace of so many uses, for a cache of so many pages.
    ///
    /// # Panics
    /// If the capacity is 0, or so large that pages cannot be numbered.
    #[must_use]
    pub fn new(kind: Kind, capacity: u32, uses: u32, seed: u64) -> Self {
        let popular = capacity.checked_mul(PAGES_PER_FRAME).expect("pages can be numbered");
        let zipf = Zipf::new(popular, EXPONENT);
        let chance = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { kind, capacity, left: uses, done: 0, fresh: popular, zipf, chance }
    }

    /// Returns a number that is larger than those of all pages.
    #[must_use]
    pub fn pages(&self) -> u32 {
        self.capacity * PAGES_PER_FRAME + self.left + self.done
    }

    fn by_zipf(&mut self) -> u32 {
        // 53 bits, as many as a float has.
        let at = (self.chance.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        self.zipf.rank(at)
    }
}

impl Iterator for Trace {
    type Item = PageNumber;

    fn next(&mut self) -> Option<PageNumber> {
        self.left = self.left.checked_sub(1)?;
        let use_number = self.done;
        self.done += 1;
        let popular = self.capacity * PAGES_PER_FRAME;
        Some(PageNumber(match self.kind {
            Kind::Zipf => self.by_zipf(),
            Kind::Scans if use_number / self.capacity % 2 == 1 => {
                self.fresh += 1;
                self.fresh - 1
            }
            Kind::Scans => self.by_zipf(),
            Kind::Loop => use_number % (self.capacity + self.capacity / 10),
            Kind::Phases => {
                let phase = use_number / (10 * self.capacity) % 3;
                (self.by_zipf() + phase * (popular / 3)) % popular
            }
            Kind::WorkingSets => {
                let set = use_number / (20 * self.capacity) % 3;
                set * (popular / 3) + use_number % (self.capacity * 3 / 4)
            }
        }))
    }
}
