//! What a recorder may lack.

/// Why the recorder could not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shortage {
    /// The file system is full, or files may not become large enough.
    Room,
    /// The folder may not be written to.
    Permission,
    /// The process may have no more memory.
    Memory,
}
