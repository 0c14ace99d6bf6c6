//! What kind of memory a mapping is, which names its row.

use std::fmt::{self, Display, Formatter};

/// What kind of memory a row is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Memory that a file was mapped into: its path. All mappings of a file are one row.
    File(Box<str>),
    /// The zeroed data of a program or library, which follows what is in the file: its path.
    ZeroedData(Box<str>),
    /// The heap that grows with `brk`.
    Heap,
    /// The first thread's stack. Stacks of other threads are anonymous.
    Stack,
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
    /// Memory of which no mapping is known.
    Unknown,
}

impl Kind {
    /// Whether it is data that the program makes itself, and so could make a copy of for each node.
    #[must_use]
    pub fn is_made_by_the_program(&self) -> bool {
        !matches!(self, Self::File(_) | Self::OtherFiles | Self::Unknown)
    }

    /// Whether people know it as one thing, whatever the number of its mappings.
    #[must_use]
    pub fn is_one_thing(&self) -> bool {
        !matches!(self, Self::OtherAnonymous { .. } | Self::OtherFiles)
    }

    /// What it shares its number of rows with; `None` if there are few of the kind in any case.
    pub(crate) fn group(&self) -> Option<Group> {
        match self {
            Self::File(_) | Self::ZeroedData(_) => Some(Group::Files),
            Self::Anonymous { bytes, .. } => Some(Group::Anonymous(bytes.max(&1).ilog2())),
            _ => None,
        }
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(path),
            Self::ZeroedData(path) => write!(f, "{path}, zeroed data"),
            Self::Heap => f.write_str("[heap]"),
            Self::Stack => f.write_str("[stack]"),
            Self::Anonymous { bytes, order } => {
                write!(f, "anonymous #{order}, {}", Bytes(*bytes))
            }
            Self::OtherAnonymous { from_bytes } => {
                let (from, to) = (Bytes(*from_bytes), Bytes(from_bytes.saturating_mul(2)));
                write!(f, "other anonymous, {from} to {to}")
            }
            Self::OtherFiles => f.write_str("other files"),
            Self::Unknown => f.write_str("memory of no known mapping"),
        }
    }
}

/// Bytes as people read them.
struct Bytes(u64);

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
    /// By the size in bytes, as a power of two.
    Anonymous(u32),
}

impl Group {
    /// The row of those that do not stand alone.
    pub(crate) fn others(self) -> Kind {
        match self {
            Self::Files => Kind::OtherFiles,
            Self::Anonymous(power) => Kind::OtherAnonymous { from_bytes: 1 << power },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_for_people() {
        let anonymous = |bytes| Kind::Anonymous { bytes, order: 3 };
        assert_eq!(anonymous(4 << 20).to_string(), "anonymous #3, 4 MiB");
        assert_eq!(anonymous((4 << 20) + 4096).to_string(), "anonymous #3, 4.0 MiB");
        assert_eq!(anonymous(0).to_string(), "anonymous #3, 0 B");
        let others = anonymous(5 << 20).group().map(Group::others);
        assert_eq!(others.expect("one").to_string(), "other anonymous, 4 MiB to 8 MiB");
        assert_eq!(Kind::ZeroedData("/bin/x".into()).to_string(), "/bin/x, zeroed data");
    }
}
