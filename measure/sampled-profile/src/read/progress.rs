//! How far reading is.

/// How far reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that were read, compressed ones if it is compressed.
    pub read: u64,
    /// Bytes that the file has; a pipe does not tell.
    pub total: Option<u64>,
}
