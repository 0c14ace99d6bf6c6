//! What kind of memory a mapping is, which names its row.

use std::fmt::{self, Display, Formatter};

use crate::advice::sites::Site;

/// What kind of memory a row is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// Memory that a file was mapped into: its path. All mappings of a file are one row.
    File(Box<str>),
    /// The zeroed data of a program or library, which follows what is in the file: its path.
    ZeroedData(Box<str>),
    /// Memory that the program's allocator cuts blocks from: what grows with `brk`, and the heaps of threads if
    /// they are known as such.
    Heap,
    /// The same without the blocks that have rows of their own.
    RestOfHeap,
    /// The first thread's stack.
    Stack,
    /// Stacks of other threads, and who started these. They are anonymous if that was not recorded.
    ThreadStack(Site),
    /// What was allocated at a place of the program: blocks, or mappings without a file.
    Allocated(Site),
    /// A mapping without a file.
    Anonymous {
        /// Its bytes when it was mapped.
        bytes: u64,
        /// The how manieth mapping without a file it was, from 1.
        order: u64,
    },
    /// Mappings without a file that have no row of their own, of a size from this number of bytes up to
    /// twice as many.
    OtherAnonymous {
        /// A power of two.
        from_bytes: u64,
    },
    /// Files that have no row of their own.
    OtherFiles,
    /// What was allocated at places that have no row of their own.
    OtherAllocated,
    /// Memory of which no mapping is known.
    Unknown,
}

impl MemoryKind {
    /// Whether it is data that the program makes itself, and so could make a copy of for each node.
    #[must_use]
    pub fn is_made_by_the_program(&self) -> bool {
        !matches!(self, Self::File(_) | Self::OtherFiles | Self::Unknown)
    }

    /// Whether people know it as one thing, whatever the number of its mappings.
    #[must_use]
    pub fn is_one_thing(&self) -> bool {
        !matches!(self, Self::OtherAnonymous { .. } | Self::OtherFiles | Self::OtherAllocated)
    }

    /// What it shares its number of rows with; `None` if there are few of the kind in any case.
    pub(crate) fn group(&self) -> Option<Group> {
        match self {
            Self::File(_) | Self::ZeroedData(_) => Some(Group::Files),
            Self::Allocated(_) | Self::ThreadStack(_) => Some(Group::Sites),
            Self::Anonymous { bytes, .. } => Some(Group::Anonymous(bytes.max(&1).ilog2())),
            _ => None,
        }
    }
}

impl Display for MemoryKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(path),
            Self::ZeroedData(path) => write!(f, "{path}, zeroed data"),
            Self::Heap => f.write_str("[heap]"),
            Self::RestOfHeap => f.write_str("[heap], the rest"),
            Self::Stack => f.write_str("[stack]"),
            Self::ThreadStack(site) => write!(f, "stacks of threads from {site}"),
            Self::Allocated(site) => site.fmt(f),
            Self::Anonymous { bytes, order } => {
                write!(f, "anonymous #{order}, {}", Bytes(*bytes))
            }
            Self::OtherAnonymous { from_bytes } => {
                let (from, to) = (Bytes(*from_bytes), Bytes(from_bytes.saturating_mul(2)));
                write!(f, "other anonymous, {from} to {to}")
            }
            Self::OtherFiles => f.write_str("other files"),
            Self::OtherAllocated => f.write_str("other blocks"),
            Self::Unknown => f.write_str("memory of no known mapping"),
        }
    }
}

/// Bytes as people read them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Display for Bytes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let power = (self.0.max(1).ilog2() / 10) as usize;
        let whole = 1_u64 << (10 * power);
        if self.0.is_multiple_of(whole) {
            write!(f, "{} {}", self.0 / whole, UNITS[power])
        } else {
            write!(f, "{:.1} {}", self.0 as f64 / whole as f64, UNITS[power])
        }
    }
}

/// Rows that are alike. Only so many of a group stand alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Group {
    Files,
    Sites,
    /// By the size in bytes, as a power of two.
    Anonymous(u32),
}

/// How many rows of a group stand alone.
const MOST_ALIKE: usize = 32;
/// How many places stand alone. Their number does not grow with the run.
const MOST_SITES: usize = 256;

impl Group {
    /// How many rows stand alone.
    pub(crate) fn most(self) -> usize {
        if self == Self::Sites { MOST_SITES } else { MOST_ALIKE }
    }

    /// The row of those that do not stand alone.
    pub(crate) fn others(self) -> MemoryKind {
        match self {
            Self::Files => MemoryKind::OtherFiles,
            Self::Sites => MemoryKind::OtherAllocated,
            Self::Anonymous(power) => MemoryKind::OtherAnonymous { from_bytes: 1 << power },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_for_people() {
        let anonymous = |bytes| MemoryKind::Anonymous { bytes, order: 3 };
        assert_eq!(anonymous(4 << 20).to_string(), "anonymous #3, 4 MiB");
        assert_eq!(anonymous((4 << 20) + 4096).to_string(), "anonymous #3, 4.0 MiB");
        assert_eq!(anonymous(0).to_string(), "anonymous #3, 0 B");
        let others = anonymous(5 << 20).group().map(Group::others);
        assert_eq!(others.expect("one").to_string(), "other anonymous, 4 MiB to 8 MiB");
        assert_eq!(MemoryKind::ZeroedData("/bin/x".into()).to_string(), "/bin/x, zeroed data");
    }
}
