//! What an instruction stores that does not tell.
//!
//! After an exchange the register holds what was in memory, and what it had stored is gone. The
//! next write tells, if both were recorded in order. Under contention some are not: their moments
//! come from two cores. But an instruction of a lock mostly stores the same. So what nearly all of
//! its writes that changed the word were seen to store, all of them stored.

use std::collections::BTreeMap;

use crate::history::{Operation, PartialValue};

/// The fewest writes that tell what an instruction stores.
const FEW: u32 = 8;
/// The share of its writes that must agree.
const MOST: f64 = 0.75;

/// What instructions were seen to store, by the address after each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stored {
    seen: BTreeMap<u64, BTreeMap<PartialValue, u32>>,
}

impl Stored {
    /// Learns from what the neighbours of writes tell.
    pub(crate) fn learn(&mut self, operations: &[Operation]) {
        // A write that seems to have stored what was there already may be one after which the next
        // was recorded too early: it found what was there before.
        let tells = |operation: &&Operation| {
            let (old, new) = (operation.old, operation.inferred);
            new.bits != 0
                && (old.bits & new.bits != new.bits || (old.value ^ new.value) & new.bits != 0)
        };
        for operation in operations.iter().filter(tells) {
            let of = self.seen.entry(operation.ip).or_default();
            *of.entry(operation.inferred).or_default() += 1;
        }
    }

    /// What nearly all writes of each instruction stored, where so many agree.
    pub(crate) fn agreed(&self) -> BTreeMap<u64, PartialValue> {
        let most = |seen: &BTreeMap<PartialValue, u32>| {
            let all: u32 = seen.values().sum();
            let (known, count) = seen.iter().max_by_key(|(_, count)| **count)?;
            let sure = all >= FEW && f64::from(*count) >= MOST * f64::from(all);
            sure.then_some(*known)
        };
        self.seen.iter().filter_map(|(ip, seen)| Some((*ip, most(seen)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Moment, Tid};

    fn operation(ip: u64, stored: u32) -> Operation {
        Operation {
            tid: Tid(1),
            actor: 1,
            at: Moment(0),
            core: 0,
            old: PartialValue::all(7),
            new: PartialValue::default(),
            inferred: PartialValue::all(stored),
            failed: false,
            hands_over: false,
            ip,
        }
    }

    #[test]
    fn an_instruction_stores_what_nearly_all_of_its_writes_stored() {
        let mut stored = Stored::default();
        stored.learn(&[[operation(1, 0); 9].as_slice(), &[operation(1, 5)]].concat());
        // These may have been recorded out of order: they found a 7, too.
        stored.learn(&[operation(1, 7); 9]);
        assert_eq!(stored.agreed(), [(1, PartialValue::all(0))].into());
    }

    #[test]
    fn few_writes_and_such_as_disagree_tell_nothing() {
        let mut stored = Stored::default();
        stored.learn(&[operation(1, 0); 3]);
        let nodes: Vec<_> = (0..20).map(|node| operation(2, 16 * node)).collect();
        stored.learn(&nodes);
        assert_eq!(stored.agreed(), BTreeMap::new());
    }
}
