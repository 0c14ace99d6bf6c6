//! Whether a turn of a loop only waits.

use std::collections::{BTreeMap, BTreeSet};

use crate::spin_loops::turn::{Branch, Location, Origins, Read, Turn};
use crate::spin_loops::value::{Address, Base};

/// A loop in which a thread waits for another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpinLoop {
    /// The address that it reads, if all that it reads is there, and if it is the same in each turn.
    pub reads: Option<Address>,
    /// Whether it says by `pause` that it waits.
    pub pauses: bool,
    /// Whether it tries to take something in each turn: to get it at once takes the same instructions
    /// as to wait for it.
    pub tries: bool,
}

impl SpinLoop {
    /// Returns what loop it is whose turn this is, from any of its instructions until it is back there.
    /// `comes_back` says of a branch whether its other way leads back into the turn.
    pub(crate) fn of_turn(turn: &Turn, comes_back: impl Fn(&Branch) -> bool) -> Option<Self> {
        if !turn.is_as_entered() {
            return None;
        }
        let changed = turn.changed();
        let counters = turn.counters();
        let counted = made_of(&changed, &counters);
        // What lies on its own stack may be waited for only if there is nothing else.
        let reads = if turn.reads.is_empty() { &turn.own_reads } else { &turn.reads };
        if !turn.pauses {
            if reads.is_empty() || rereads(reads) || goes_on(&changed, &counters) {
                return None;
            }
            let read = made_of(&changed, &Origins::from([Location::Memory]));
            let leaves = |branch: &&Branch| {
                !branch.from.is_disjoint(&read) && branch.from.is_disjoint(&counted)
            };
            let moves = turn.reads.iter().any(|read| !read.from.is_disjoint(&counted));
            let waits = || turn.branches.iter().filter(leaves).any(|branch| !comes_back(branch));
            if !counters.is_empty() && (moves || !waits()) {
                return None;
            }
        }
        let first = reads.first().and_then(|read| read.address);
        let reads = first.filter(|first| {
            first.parts().all(|part| is_as_before(part, &changed))
                && reads.iter().all(|read| read.address == Some(*first))
        });
        Some(Self { reads, pauses: turn.pauses, tries: turn.tries })
    }

    /// Whether threads that are found in it wait. Where a loop pauses and tries again, the try is not
    /// counted: most samples of a lock that nobody fights for fall just behind it.
    #[must_use]
    pub fn waits(&self) -> bool {
        !(self.pauses && self.tries)
    }
}

fn is_as_before(part: Base, changed: &BTreeMap<Location, Origins>) -> bool {
    match part {
        Base::Register(register) => !changed.contains_key(&Location::Register(register)),
        Base::Slot { at, size } => {
            (at..at + i64::from(size)).all(|byte| !changed.contains_key(&Location::Byte(byte)))
        }
    }
}

/// Whether a word is read twice with others between. A reader of data that are written seldom does so, to
/// see whether they were written meanwhile; it mostly takes a single turn.
fn rereads(reads: &[Read]) -> bool {
    let key = |read: &Read| (read.address.is_none(), read.address.unwrap_or(read.spelled));
    let distinct: BTreeSet<_> = reads.iter().map(key).collect();
    distinct.len() > 1 && distinct.len() < reads.len()
}

/// The places that are made of some, in this turn or in later ones, and those themselves.
fn made_of(changed: &BTreeMap<Location, Origins>, some: &Origins) -> Origins {
    let mut made = some.clone();
    loop {
        let more: Vec<Location> = changed
            .iter()
            .filter(|(place, from)| !made.contains(place) && !from.is_disjoint(&made))
            .map(|(place, _)| *place)
            .collect();
        if more.is_empty() {
            return made;
        }
        made.extend(more);
    }
}

/// Whether a place that is no counter is made from what it was itself a turn before, or some turns before.
/// Where none is, every place has soon become what the memory and what nobody changes make of it, and
/// stays that.
fn goes_on(changed: &BTreeMap<Location, Origins>, counters: &Origins) -> bool {
    let mut left: BTreeMap<Location, Origins> = changed.clone();
    left.retain(|place, _| !counters.contains(place));
    loop {
        let settled: Vec<Location> = left
            .iter()
            .filter(|(_, from)| from.iter().all(|one| !left.contains_key(one)))
            .map(|(place, _)| *place)
            .collect();
        if settled.is_empty() {
            return !left.is_empty();
        }
        settled.iter().for_each(|place| drop(left.remove(place)));
    }
}
