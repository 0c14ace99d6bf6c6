//! Stacks of addresses, each kept once.

use std::collections::BTreeMap;

use super::super::error::ReadError;
use super::super::task::Task;

/// What was counted on a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    /// How often it was seen.
    pub(crate) samples: u64,
    /// What the profile says of it beside that: cycles, for instance.
    pub(crate) amount: u64,
}

/// All stacks with their counts.
#[derive(Debug, Default)]
pub(crate) struct Stacks {
    all: BTreeMap<Box<[u64]>, Count>,
    /// Addresses of all of them, and one for each.
    size: usize,
}

/// A frame's address as the unwinder found it, moved into the call that it returns to. The address
/// behind a call may be that of another line or, if the call does not return, of another function.
pub(crate) fn call(return_address: u64) -> u64 {
    return_address.saturating_sub(1)
}

impl Stacks {
    /// Counts a stack, given with the innermost address first. The sums saturate.
    pub(crate) fn add(
        &mut self,
        stack: &[u64],
        count: Count,
        task: &Task<'_>,
    ) -> Result<(), ReadError> {
        let limit = task.options.limits.contexts;
        if !self.all.contains_key(stack) {
            self.size += stack.len() + 1;
            if self.size > limit {
                return Err(task.too_large("addresses of stacks", limit));
            }
            self.all.insert(stack.into(), Count::default());
        }
        let sum = self.all.get_mut(stack).expect("it is there by now");
        sum.samples = sum.samples.saturating_add(count.samples);
        sum.amount = sum.amount.saturating_add(count.amount);
        Ok(())
    }

    /// The stacks in the order of their addresses, the innermost first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u64], Count)> {
        self.all.iter().map(|(stack, count)| (&**stack, *count))
    }
}
