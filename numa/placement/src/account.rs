//! What a run has cost, and what for.

use kilocore_platform::Cycles;
use serde::{Deserialize, Serialize};

/// Counts of what happened in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// Reads of pages that the program keeps for one processor.
    pub private_reads: u64,
    /// Writes to such pages.
    pub private_writes: u64,
    /// Reads of all other pages.
    pub shared_reads: u64,
    /// Writes to all other pages.
    pub shared_writes: u64,
    /// Reads that went to another node's memory.
    pub remote_reads: u64,
    /// Writes by processors whose node had no copy.
    pub remote_writes: u64,
    /// Copies of pages that were told of a write.
    pub updates: u64,
    /// Copies that were taken away by a write.
    pub invalidations: u64,
    /// Copies of pages that were brought to another node.
    pub replications: u64,
    /// Copies that were given up.
    pub drops: u64,
    /// Pages that were moved.
    pub migrations: u64,
    /// Interrupts and faults after which the policy did neither.
    pub idle_faults: u64,
    /// Messages that a policy sent from one processor to another.
    pub messages: u64,
    /// Entries of translation buffers that were loaded.
    pub tlb_misses: u64,
    /// Cycles that references waited for a busy memory.
    pub queued: u64,
    /// All cycles: of references, and of what was done for them.
    pub cycles: u64,
}

impl Account {
    /// How many references there were.
    #[must_use]
    pub fn references(&self) -> u64 {
        self.private_reads + self.private_writes + self.shared_reads + self.shared_writes
    }

    /// The normalized average memory access cost: how much longer a reference takes, with all that
    /// is done for it, than one to local memory. 1 is the ideal. `None` without references.
    #[must_use]
    pub fn namc(&self, local: Cycles) -> Option<f64> {
        let ideal = self.references() * local.0;
        (ideal > 0).then(|| self.cycles as f64 / ideal as f64)
    }
}
