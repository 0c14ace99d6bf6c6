//! How far reading is.

/// How far reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that were read, compressed ones if it is compressed.
    pub read: u64,
    /// The size of the file in bytes; absent for a pipe.
    pub total: Option<u64>,
}
