//! What sorted keys say of themselves.

/// What a sorted result says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// How many keys were sorted.
    pub keys: usize,
    /// A digest of the sorted keys. It does not depend on the number of threads.
    pub digest: u64,
}
