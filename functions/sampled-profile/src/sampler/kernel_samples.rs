//! Whether samples were taken in the kernel.

/// Whether samples were taken in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelSamples {
    /// They were.
    Included,
    /// They were not.
    Excluded {
        /// Why not, and what would mend it.
        why: String,
    },
}
