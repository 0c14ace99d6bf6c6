//! What the processes do to their files.

use std::fmt;
use std::str::FromStr;

use kilocore_machine::names::{UnknownName, find};
use serde::{Deserialize, Serialize};

/// A pattern of accesses, which all processes have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// New files are written from beginning to end. Memory is fresh: the page allocator hands out
    /// frames in runs.
    SeqWrite,
    /// Files are written 4 KiB at a time, at random places. Memory has been in use: the free frames
    /// are scattered.
    RandWrite,
    /// Files are read once, whose pages are all in the cache.
    Read,
}

impl Pattern {
    /// All patterns, in the order of the variants.
    pub const ALL: [Pattern; 3] = [Pattern::SeqWrite, Pattern::RandWrite, Pattern::Read];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SeqWrite => "seq-write",
            Self::RandWrite => "rand-write",
            Self::Read => "read",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Pattern {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("pattern", name, Self::ALL.map(|pattern| (pattern.name(), pattern)))
    }
}
