//! What happened to a watched word, write by write.
//!
//! Each write tells something of the value before it and after it; a plain store tells nothing of
//! the value before, and `lock dec` nothing but whether the sum is zero. What a write does not tell
//! follows from the writes beside it: the value before one is the value after the one before. Writes
//! of two cores may be recorded out of order. So what a write tells itself comes first.

use std::collections::BTreeMap;

use crate::ids::{Moment, Tid};
use crate::instruction::{Change, Write};
use crate::registers::mask;

/// What is known of the value of a word: some of its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct PartialValue {
    pub(crate) value: u32,
    /// The bits that are known.
    pub(crate) bits: u32,
    /// Whether it is known not to be zero as a whole.
    pub(crate) nonzero: bool,
}

/// A write to the word, or an attempt to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) tid: Tid,
    /// Who wrote: the thread, or the goroutine that it ran.
    pub(crate) actor: u64,
    pub(crate) at: Moment,
    pub(crate) core: u32,
    pub(crate) old: PartialValue,
    pub(crate) new: PartialValue,
    /// What it stored and did not tell, but the next write found there.
    pub(crate) inferred: PartialValue,
    /// Whether it was an attempt that failed.
    pub(crate) failed: bool,
    /// Whether, if it takes the lock, it does so only to hand it over: it is a part of giving it back.
    pub(crate) hands_over: bool,
    /// The address after the instruction.
    pub(crate) ip: u64,
}

impl PartialValue {
    /// A value of which all bits are known.
    #[cfg(test)]
    pub(crate) fn all(value: u32) -> Self {
        Self { value, bits: u32::MAX, nonzero: value != 0 }
    }

    /// What is known of the whole word, if these bytes of it are known.
    fn part(value: Option<u64>, place: &WrittenBytes) -> Self {
        match value {
            Some(value) => {
                let value = place.in_word(value);
                Self { value, bits: place.bits, nonzero: value != 0 }
            }
            None => Self::default(),
        }
    }

    /// Adds what `other` knows and this does not.
    fn or(self, other: Self) -> Self {
        let more = other.bits & !self.bits;
        Self {
            value: self.value & self.bits | other.value & more,
            bits: self.bits | other.bits,
            nonzero: self.nonzero || other.nonzero && self.bits == 0,
        }
    }

    fn without(self, bits: u32) -> Self {
        let nonzero = self.nonzero && bits == 0;
        Self { value: self.value & !bits, bits: self.bits & !bits, nonzero }
    }
}

/// Where in the word a write fell.
struct WrittenBytes {
    shift: i64,
    bits: u32,
}

impl WrittenBytes {
    fn of(write: &Write, word: u64) -> Self {
        let shift = 8 * word.wrapping_sub(write.address) as i64;
        let mut place = Self { shift, bits: 0 };
        place.bits = place.in_word(mask(write.size));
        place
    }

    /// The part of the word that these written bytes are.
    fn in_word(&self, value: u64) -> u32 {
        match self.shift {
            up @ -31..=-1 => (value << -up) as u32,
            down @ 0..=63 => (value >> down) as u32,
            _ => 0,
        }
    }

    /// The written bytes, of which the word holds these.
    fn of_word(&self, word: u32) -> u64 {
        let word = u64::from(word & self.bits);
        if self.shift < 0 { word >> -self.shift } else { word << self.shift }
    }
}

/// The history of a word in one window.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    pub(crate) operations: Vec<Operation>,
    /// The value as of the last operation.
    last: PartialValue,
    /// Whether that replaced the value, whatever it was.
    last_stored: bool,
}

impl History {
    /// Adds a write to the word that begins at `word`; `None` if it could not be read.
    pub(crate) fn add(
        &mut self,
        (tid, actor, at, core, ip): (Tid, u64, Moment, u32, u64),
        write: Option<Write>,
        word: u64,
    ) {
        let Some(write) = write else {
            // A copy of a block of memory, or code that could not be read.
            self.last = PartialValue::default();
            return;
        };
        let place = WrittenBytes::of(&write, word);
        let told = PartialValue::part(found(&write), &place);
        // What the write itself tells is surer than what follows from the order of writes, which
        // is only that of when they were recorded.
        let mut old = told.or(self.last);
        if is_out_of_order(&write, &place, old) {
            old = old.without(place.bits);
        }
        let new = after(&write, &place, old);
        // The write before did not tell what it left behind, and this one tells what it found.
        if let Some(before) = self.operations.last_mut()
            && before.new.bits & told.bits != told.bits
        {
            if self.last_stored {
                before.inferred = told.without(before.new.bits);
            }
            before.new = before.new.or(told);
        }
        let failed = write.change == Change::Nothing;
        self.operations.push(Operation {
            tid,
            actor,
            at,
            core,
            old,
            new,
            inferred: PartialValue::default(),
            failed,
            hands_over: false,
            ip,
        });
        self.last = new;
        self.last_stored = write.change == Change::Stored;
    }

    /// Puts what instructions are known to store in the place of what neighbours told, which may be
    /// recorded out of order.
    pub(crate) fn settle(&mut self, stored: &BTreeMap<u64, PartialValue>) {
        for operation in self.operations.iter_mut().filter(|of| of.inferred.bits != 0) {
            let told = operation.new.without(operation.inferred.bits);
            let agreed = stored.get(&operation.ip).copied().unwrap_or(operation.inferred);
            operation.new = told.or(agreed);
        }
    }
}

/// The bytes that a write tells it found: those that it read, or those that its sum of zero had
/// been.
fn found(write: &Write) -> Option<u64> {
    let zeroed = || match write.change {
        Change::Added(by) if write.zero == Some(true) => Some(by.wrapping_neg() & mask(write.size)),
        _ => None,
    };
    write.old.or_else(zeroed)
}

/// Whether a sum that was not zero would have been, if the write had found this: it did not, and
/// was recorded later than one that came after it. A thread that tries a spin lock just before it
/// is given back would seem to take it.
fn is_out_of_order(write: &Write, place: &WrittenBytes, old: PartialValue) -> bool {
    let Change::Added(by) = write.change else { return false };
    let whole = old.bits & place.bits == place.bits;
    let sum = place.of_word(old.value).wrapping_add(by) & mask(write.size);
    whole && sum == 0 && write.zero == Some(false)
}

/// What is known of the word after a write.
fn after(write: &Write, place: &WrittenBytes, old: PartialValue) -> PartialValue {
    let rest = old.without(place.bits);
    let written = match (write.new, write.change) {
        (Some(new), _) => PartialValue::part(Some(new), place),
        (None, Change::Nothing) => return old,
        (None, _) if write.zero == Some(true) => PartialValue::part(Some(0), place),
        (None, change) => {
            let whole = old.bits & place.bits == place.bits;
            let before = place.of_word(old.value);
            let kept = mask(write.size);
            let value = match change {
                // Carries make every bit uncertain if one is.
                Change::Added(by) if whole => Some(before.wrapping_add(by) & kept),
                Change::Bits { kept: stay, flipped } if whole => Some((before & stay) ^ flipped),
                _ => None,
            };
            let unknown =
                PartialValue { nonzero: write.zero == Some(false), ..PartialValue::default() };
            value.map_or(unknown, |value| PartialValue::part(Some(value), place))
        }
    };
    let nonzero = written.nonzero;
    PartialValue { nonzero, ..written.or(rest) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORD: u64 = 0x1000;

    fn write(old: Option<u64>, new: Option<u64>, change: Change) -> Write {
        let (zero, sign) = (None, None);
        Write { address: WORD, size: 4, old, new, change, atomic: true, zero, sign }
    }

    fn history(writes: &[Write]) -> History {
        let mut history = History::default();
        for (at, write) in writes.iter().enumerate() {
            history.add((Tid(1), 1, Moment(at as u64), 0, 0), Some(*write), WORD);
        }
        history
    }

    #[test]
    fn what_a_write_does_not_tell_follows_from_its_neighbours() {
        let history = history(&[
            write(Some(0), Some(1), Change::Stored),
            write(None, None, Change::Added(u64::from(u32::MAX))),
            write(None, None, Change::Unknown),
            write(Some(7), Some(0), Change::Stored),
        ]);
        let seen: Vec<_> = history.operations.iter().map(|o| (o.old, o.new)).collect();
        assert_eq!(seen[1], (PartialValue::all(1), PartialValue::all(0)));
        assert_eq!(seen[2].1, PartialValue::all(7), "as the next one found it");
        assert_eq!(seen[3].1, PartialValue::all(0));
    }

    #[test]
    fn what_an_instruction_is_known_to_store_holds_against_the_order_of_records() {
        let take = write(Some(0), Some(1), Change::Stored);
        let exchange = write(Some(1), None, Change::Stored);
        let count = write(Some(1), None, Change::Unknown);
        // The second of two threads took the lock after the first gave it back, and was recorded
        // before.
        let late = write(Some(1), Some(1), Change::Nothing);
        let mut history = history(&[take, exchange, late, count, late]);
        assert_eq!(history.operations[1].new, PartialValue::all(1));
        history.settle(&BTreeMap::from([(0, PartialValue::all(0))]));
        assert_eq!(history.operations[1].new, PartialValue::all(0));
        assert_eq!(
            history.operations[3].new,
            PartialValue::all(1),
            "a sum depends on what was there"
        );
        history.settle(&BTreeMap::new());
        assert_eq!(history.operations[1].new, PartialValue::all(1));
    }

    #[test]
    fn flags_tell_whether_a_sum_is_zero() {
        let zero = Write { zero: Some(true), ..write(None, None, Change::Unknown) };
        let other = Write { zero: Some(false), ..zero };
        let history = history(&[zero, other]);
        assert_eq!(history.operations[0].new, PartialValue::all(0));
        let new = history.operations[1].new;
        assert!(new.nonzero && new.bits == 0);
    }

    #[test]
    fn a_try_recorded_after_the_release_that_it_preceded_takes_nothing() {
        // A spin lock that is free at 1. Its `lock dec` tells whether it took the lock.
        let minus_one = Change::Added(u64::from(u32::MAX));
        let takes = Write { zero: Some(true), ..write(None, None, minus_one) };
        let fails = Write { zero: Some(false), ..takes };
        let frees = write(None, Some(1), Change::Stored);
        let history = history(&[frees, fails, takes, frees]);
        let fails = history.operations[1];
        assert_eq!((fails.old, fails.failed), (PartialValue::default(), false));
        assert_eq!(history.operations[2].old, PartialValue::all(1), "its sum is zero");
        assert_eq!(history.operations[2].new, PartialValue::all(0));
    }

    #[test]
    fn a_byte_of_the_word_leaves_the_others() {
        let byte = Write { address: WORD + 1, size: 1, ..write(Some(0), Some(1), Change::Stored) };
        let history = history(&[write(None, Some(0x0404_0004), Change::Stored), byte]);
        assert_eq!(history.operations[1].new, PartialValue::all(0x0404_0104));
    }

    proptest! {
        #[test]
        fn whatever_is_written_is_tracked(values in proptest::collection::vec((any::<u32>(), 0..5u8), 1..40)) {
            // Writes of all kinds that tell all, and what a real word would hold.
            let (mut word, mut writes) = (0u32, vec![write(None, Some(0), Change::Stored)]);
            let mut expected = vec![0];
            for (value, kind) in values {
                let (change, after) = match kind {
                    0 => (Change::Stored, value),
                    1 => (Change::Added(u64::from(value)), word.wrapping_add(value)),
                    2 => (Change::Bits { kept: u64::from(value), flipped: 0 }, word & value),
                    3 => (Change::Bits { kept: u64::from(u32::MAX), flipped: u64::from(value) }, word ^ value),
                    _ => (Change::Nothing, word),
                };
                let new = (kind == 0).then_some(u64::from(value));
                writes.push(write(None, new, change));
                word = after;
                expected.push(word);
            }
            let tracked: Vec<u32> = history(&writes).operations.iter().map(|o| o.new.value).collect();
            prop_assert_eq!(tracked, expected);
        }
    }
}
