//! Threads and processes by names that are not used again.

/// A thread or process for good: its number and its start time in ticks since the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Named {
    /// The process's or thread's number.
    pub id: u32,
    /// When it was started.
    pub started: u64,
}
