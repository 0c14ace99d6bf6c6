//! Whether samples were taken in the kernel.

/// Whether samples were taken in the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelSamples {
    /// The kernel was sampled where threads were in it.
    Included,
    /// Only the program's own code was sampled.
    Excluded {
        /// Why not, and what would mend it.
        why: String,
    },
}
