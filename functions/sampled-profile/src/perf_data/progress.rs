//! How far reading is.

/// How far reading is, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// So much was read.
    pub read: u64,
    /// So much there is.
    pub length: u64,
}
