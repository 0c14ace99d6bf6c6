//! What came out of a run, to be shown.

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::memory::Memory;
use crate::rules::Rule;

/// What a policy has come to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The policy under which the references were simulated.
    pub policy: Rule,
    /// The initial delay, of policies that have one.
    pub delay: Option<u32>,
    /// The normalized average memory access cost. It is not a number without references.
    pub namc: f64,
    /// Copies of pages that were brought to another node.
    pub replications: u64,
    /// Copies of pages that were told of a write.
    pub updates: u64,
    /// All that was counted. Of the optimum, only references and cycles are known.
    pub counts: Account,
}

impl Outcome {
    /// What a memory has come to under a policy.
    ///
    /// # Panics
    /// If it is the optimum, and the memory was not asked for it.
    #[must_use]
    pub fn of(memory: &Memory, policy: Rule, delay: u32) -> Self {
        let mut counts = *memory.account();
        if policy == Rule::Optimum {
            let cycles = memory.optimum().expect("asked for").0;
            // The rest is how the order of references came about, and not what this would do.
            counts = Account {
                cycles,
                private_reads: counts.private_reads,
                private_writes: counts.private_writes,
                shared_reads: counts.shared_reads,
                shared_writes: counts.shared_writes,
                ..Account::default()
            };
        }
        Self {
            policy,
            delay: policy.has_delay().then_some(delay),
            namc: counts.namc(memory.machine().options().costs.local).unwrap_or(f64::NAN),
            replications: counts.replications,
            updates: counts.updates,
            counts,
        }
    }
}
