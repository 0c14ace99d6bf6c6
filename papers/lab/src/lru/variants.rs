//! The ways to divide the lists, by name.

use std::fmt;
use std::str::FromStr;

use kilocore_lru::{Index, Layout, Options};
use kilocore_machine::names::{UnknownName, find};

/// How the LRU lists of a node's memory are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// The kernel as it is: one lock over all lists.
    Stock,
    /// The first FinerLRU. Each list of each stripe has a lock. Neighbouring frames are of different
    /// stripes: the paper introduces groups of sixteen neighbours with the improved version.
    FinerV1,
    /// The same with the improved version's groups. The paper does not say that there was this.
    FinerV1Grouped,
    /// The improved FinerLRU: each stripe has a lock, and sixteen neighbours share a stripe.
    Finer,
    /// The same, where a batch is sorted by stripe before it takes locks.
    FinerSorted,
    /// The improved FinerLRU, where a multiplication spreads the groups over the stripes.
    FinerHashed,
}

impl Variant {
    /// All variants of the lists, the baseline first.
    pub const ALL: [Variant; 6] = [
        Variant::Stock,
        Variant::FinerV1,
        Variant::FinerV1Grouped,
        Variant::Finer,
        Variant::FinerSorted,
        Variant::FinerHashed,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::FinerV1 => "finer-v1",
            Self::FinerV1Grouped => "finer-v1-grouped",
            Self::Finer => "finer",
            Self::FinerSorted => "finer-sorted",
            Self::FinerHashed => "finer-hashed",
        }
    }

    /// Whether there are several stripes, as many as a factor says.
    #[must_use]
    pub fn has_factor(self) -> bool {
        self != Self::Stock
    }

    /// How the lists are made, with so many stripes where the variant has several.
    pub(crate) fn options(self, factor: u32, batch: u32) -> Options {
        let layout = match self {
            Self::Stock => Layout::STOCK,
            Self::FinerV1 => Layout { group_bits: 0, ..Layout::first_finer(factor) },
            Self::FinerV1Grouped => Layout::first_finer(factor),
            Self::Finer | Self::FinerSorted => Layout::finer(factor),
            Self::FinerHashed => Layout { index: Index::Hashed, ..Layout::finer(factor) },
        };
        Options { layout, batch, sorted: self == Self::FinerSorted }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("variant", name, Self::ALL.map(|variant| (variant.name(), variant)))
    }
}
