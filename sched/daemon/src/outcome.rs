//! What became of putting things back.

/// What became of putting things back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many threads got their allowance back.
    pub threads: u64,
    /// What could not be put back, in words. The journal is kept for it.
    pub left: Vec<String>,
    /// Threads of the programs that may be confined still, in words: it is not known whose choice their masks are.
    pub unknown: Vec<String>,
    /// Processes that may be the programs' and confined still, in words: it is not known who has started them.
    pub strangers: Vec<String>,
}
