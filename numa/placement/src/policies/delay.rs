//! The policies without memory: never, at once, after a delay, and until too many writes.

use crate::machine::Machine;
use crate::policy::{At, Decision, Fate, Policy};
use crate::units::{NEVER, Node, Page};

/// Pages stay where they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Never;

impl Policy for Never {
    fn first_remote(&mut self, _: &mut Machine, _: At) -> u32 {
        NEVER
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Stay(NEVER)
    }
}

/// A page fault brings a copy before the first remote reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstReference;

impl Policy for FirstReference {
    fn first_remote(&mut self, _: &mut Machine, _: At) -> u32 {
        0
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Replicate
    }
}

/// The DELAY counter of Bolosky and others: a copy is brought after so many remote references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedDelay {
    /// How many. At 1 the first remote reference brings a copy, and is still served remotely.
    pub delay: u32,
}

impl Policy for FixedDelay {
    fn first_remote(&mut self, _: &mut Machine, _: At) -> u32 {
        self.delay
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Replicate
    }
}

/// DELAY with the UPDATE counter of Markatos and Chronaki: a copy is given up that was told of writes
/// more often than its own node has referred to it, by the time that it has been told of `budget`.
///
/// Where the node's references come from, their paper leaves open; here they are the ones that the
/// delay counter has counted since the copy was brought, as Lee and Cho propose. Both counts begin
/// again when the copy stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithUpdates {
    /// Remote references until a copy is brought.
    pub delay: u32,
    /// Writes until it is looked at again.
    pub budget: u32,
}

impl Policy for WithUpdates {
    fn first_remote(&mut self, _: &mut Machine, _: At) -> u32 {
        self.delay
    }

    fn exhausted(&mut self, _: &mut Machine, _: At) -> Decision {
        Decision::Replicate
    }

    fn update_budget(&self) -> u32 {
        self.budget
    }

    fn updates_exhausted(&mut self, machine: &mut Machine, page: Page, node: Node) -> Fate {
        let updates = u64::from(machine.updates(page, node));
        if updates > machine.local_references(page, node) { Fate::Drop } else { Fate::Keep }
    }
}
