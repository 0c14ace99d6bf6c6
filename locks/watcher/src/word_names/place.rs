//! Where a word lies.

use std::fmt;

/// Where a word of memory lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WordPlace {
    /// In a variable of a program or a library.
    Symbol {
        /// The path of the program or library.
        module: String,
        /// The name of the variable that the word is a part of.
        symbol: String,
        /// How far into it, in bytes.
        offset: u64,
    },
    /// In memory that processes share, mapped from a file: the same place for all of them.
    File {
        /// The file; its name may be gone.
        path: String,
        /// The inode of the file, which tells it from others of the same path.
        inode: u64,
        /// The offset in the file, in bytes.
        offset: u64,
    },
    /// In the data of a program or a library that has no name for it.
    Mapping {
        /// The path of the program or library.
        path: String,
        /// The offset in the file, in bytes.
        offset: u64,
    },
    /// In memory that the program has allocated.
    Heap,
    /// In the stack of a thread.
    Stack,
    /// In no memory that is known.
    Unmapped,
}

impl fmt::Display for WordPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
        match self {
            Self::Symbol { module, symbol, offset: 0 } => {
                write!(f, "{symbol} in {}", name(module))
            }
            Self::Symbol { module, symbol, offset } => {
                write!(f, "{symbol}+{offset:#x} in {}", name(module))
            }
            Self::File { path, offset, .. } => write!(f, "shared memory {path}+{offset:#x}"),
            Self::Mapping { path, offset } => write!(f, "{}+{offset:#x}", name(path)),
            Self::Heap => f.write_str("on the heap"),
            Self::Stack => f.write_str("on a stack"),
            Self::Unmapped => f.write_str("in unknown memory"),
        }
    }
}
