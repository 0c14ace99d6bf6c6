//! How the trees of files' mappings are shared.

use std::fmt;
use std::str::FromStr;

use kilocore_machine::names::{UnknownName, find};

/// How the tree of a file's mappings is shared between cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeScheme {
    /// One semaphore.
    Stock,
    /// A log of insertions beside it, which removals cancel or follow under the semaphore.
    Log,
    /// A tree with a semaphore for each memory node.
    Split,
}

impl TreeScheme {
    /// All, in the order of the variants.
    pub const ALL: &'static [Self] = &[Self::Stock, Self::Log, Self::Split];

    /// Its name on the command line, and in the kernel's setting.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stock => "stock",
            Self::Log => "ldu",
            Self::Split => "split",
        }
    }
}

impl FromStr for TreeScheme {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("scheme", name, Self::ALL.iter().map(|scheme| (scheme.name(), *scheme)))
    }
}

impl fmt::Display for TreeScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
