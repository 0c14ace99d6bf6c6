//! What the writes to a word mean: the model of a lock that they fit, if there is one.
//!
//! Each meaning that a word of a lock may have is tried on all windows. It fits if threads take and
//! give back in turn by it, nearly always. Of those that fit, the one with the most sections is taken.

use std::collections::BTreeSet;

use crate::history::Operation;
use crate::ids::{Moment, Tid};
use crate::pairing::{HeldWhen, Paired, Section, Unit, difference, exclusive, shared, writers};

/// What the writes to a word mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// It is a lock that one thread holds at a time.
    Exclusive(HeldWhen),
    /// Readers share it; writers, if any were seen, take it by this meaning.
    Shared(Unit, Option<HeldWhen>),
    /// It is no lock: those who set it are not those who clear it.
    NoLock,
    /// Too few writes were seen.
    Unknown,
}

impl Model {
    /// Whether it is a lock, as far as is known.
    pub(crate) fn is_lock(self) -> bool {
        matches!(self, Self::Exclusive(_) | Self::Shared(..))
    }
}

/// The fewest sections that tell anything.
const FEW: usize = 5;
/// The share of writes that may contradict a meaning: moments of different cores are a little out
/// of order, and windows begin in the middle.
const CONTRADICTING: f64 = 0.1;

/// If this share of a lock's sections lie inside sections of another meaning of the word, the lock guards
/// something of the other one, such as its queue of waiters.
const INSIDE: f64 = 0.2;
/// A lock around another one is taken at least once in so many times.
const TIMES_AS_OFTEN: usize = 4;

/// The share of shared acquisitions that find others inside, from which on readers share.
const TOGETHER: f64 = 0.05;

/// Whether threads that take the lock find other readers inside.
fn are_together(windows: &[&[Operation]], unit: Unit) -> bool {
    let all = windows.iter().flat_map(|operations| operations.iter());
    let enters = all.filter(|operation| difference(operation) == Some(unit.0));
    let (mut count, mut met) = (0.0, 0.0);
    for operation in enters {
        count += 1.0;
        met += f64::from(u8::from(operation.old.value >= unit.0));
    }
    met > TOGETHER * count
}

/// Whether the word only ever counts upwards, as sequence counters and tickets do.
fn counts_up(windows: &[&[Operation]]) -> bool {
    let changes = windows.iter().flat_map(|operations| operations.iter().filter_map(difference));
    let (mut up, mut down) = (0.0, 0.0);
    for change in changes.filter(|change| *change != 0) {
        *if change < 1 << 31 { &mut up } else { &mut down } += 1.0;
    }
    up >= FEW as f64 && down <= CONTRADICTING / 2.0 * up
}

/// Whether a part of a word is a lock that guards something of the lock that another part is: threads often
/// take the inner one while another thread has the outer one.
fn lies_inside(windows: &[&[Operation]], inner: HeldWhen, outer: HeldWhen) -> bool {
    let (mut all, mut inside) = (0.0, 0.0);
    for operations in windows {
        // Sections are sorted by their ends.
        let outer = exclusive(operations, outer).sections;
        for section in exclusive(operations, inner).sections {
            let at = outer.partition_point(|around| around.released < section.released);
            let around = outer.get(at).is_some_and(|around| {
                around.acquired < section.acquired && around.tid != section.tid
            });
            all += 1.0;
            inside += f64::from(u8::from(around));
        }
    }
    inside > INSIDE * all
}

/// Finds what the writes of several windows mean.
pub(crate) fn model(windows: &[&[Operation]]) -> Model {
    let writes: usize = windows.iter().map(|operations| operations.len()).sum();
    if counts_up(windows) {
        return Model::NoLock;
    }
    let sum = |pair: &dyn Fn(&[Operation]) -> Paired| {
        windows.iter().map(|operations| pair(operations)).fold((0, 0, 0), |all, paired| {
            (all.0 + paired.sections.len(), all.1 + paired.broken, all.2 + paired.overlapping)
        })
    };
    let right = |(sections, broken, overlapping): (usize, u64, u64), alone: bool| {
        let against = broken + if alone { overlapping } else { 0 };
        sections >= FEW && against as f64 <= CONTRADICTING * sections as f64
    };
    // Of two meanings that are right, the one with more sections; of equals, the simpler.
    let best_of = |pair: &dyn Fn(&[Operation], HeldWhen) -> Paired| {
        let mut best: Option<(usize, HeldWhen)> = None;
        for meaning in HeldWhen::tried() {
            let of = sum(&|operations| pair(operations, meaning));
            if right(of, true) && best.is_none_or(|(most, _)| of.0 > most) {
                best = Some((of.0, meaning));
            }
        }
        best
    };
    let best = best_of(&exclusive).map(|inner| {
        let around = |meaning: &HeldWhen| {
            let of = sum(&|operations| exclusive(operations, *meaning));
            meaning.is_apart_from(inner.1) && right(of, true) && TIMES_AS_OFTEN * of.0 >= inner.0
        };
        let outer =
            HeldWhen::tried().filter(around).find(|outer| lies_inside(windows, inner.1, *outer));
        outer.map_or(inner, |outer| (inner.0, outer))
    });
    let mut readers: Option<(usize, Unit)> = None;
    for unit in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024].map(Unit) {
        let of = sum(&|operations| shared(operations, unit));
        if right(of, false)
            && are_together(windows, unit)
            && readers.is_none_or(|(most, _)| of.0 > most)
        {
            readers = Some((of.0, unit));
        }
    }
    match (best, readers) {
        (Some((exclusive, meaning)), Some((shared, _))) if shared <= exclusive => {
            Model::Exclusive(meaning)
        }
        (_, Some((_, unit))) => {
            let best = best_of(&|operations, meaning| writers(operations, unit, meaning));
            Model::Shared(unit, best.map(|(_, meaning)| meaning))
        }
        (Some((_, meaning)), None) => Model::Exclusive(meaning),
        (None, None) if writes < 4 * FEW => Model::Unknown,
        (None, None) => Model::NoLock,
    }
}

/// What a thread did to a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    Acquired,
    Released,
}

/// When which thread took the lock and gave it back.
pub(crate) fn taken_and_given_back(
    operations: &[Operation],
    model: Model,
) -> Vec<(Moment, Tid, Turn)> {
    let sections = match model {
        Model::Exclusive(meaning) => exclusive(operations, meaning).sections,
        Model::Shared(unit, meaning) => {
            let writers = meaning.map(|meaning| writers(operations, unit, meaning).sections);
            let mut all = shared(operations, unit).sections;
            all.extend(writers.into_iter().flatten());
            all
        }
        Model::NoLock | Model::Unknown => Vec::new(),
    };
    let both = |section: Section| {
        [
            (section.acquired, section.tid, Turn::Acquired),
            (section.released, section.tid, Turn::Released),
        ]
    };
    sections.into_iter().flat_map(both).collect()
}

/// The places in the code that give a lock back, as addresses after the instructions.
pub(crate) fn releases(windows: &[&[Operation]], model: Model) -> BTreeSet<u64> {
    let (meaning, unit) = match model {
        Model::Exclusive(meaning) => (Some(meaning), None),
        Model::Shared(unit, meaning) => (meaning, Some(unit)),
        Model::NoLock | Model::Unknown => (None, None),
    };
    let gives_back = |operation: &&Operation| {
        let frees = meaning.is_some_and(|meaning| {
            meaning.held(operation.old) != Some(false)
                && meaning.held(operation.new) == Some(false)
                && !operation.failed
        });
        frees || unit.is_some_and(|unit| difference(operation) == Some(unit.0.wrapping_neg()))
    };
    let all = windows.iter().flat_map(|operations| operations.iter());
    all.filter(gives_back).map(|operation| operation.ip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::PartialValue;

    /// Writes: thread, from, to. Each takes 10 ns longer than the one before.
    fn operations(writes: &[(u32, u32, u32)]) -> Vec<Operation> {
        let of = |(index, (tid, old, new)): (usize, &(u32, u32, u32))| Operation {
            tid: Tid(*tid),
            actor: u64::from(*tid),
            at: Moment(10 * index as u64),
            core: 0,
            old: PartialValue::all(*old),
            new: PartialValue::all(*new),
            inferred: PartialValue::default(),
            failed: old == new,
            hands_over: false,
            ip: 0,
        };
        writes.iter().enumerate().map(of).collect()
    }

    fn repeated(writes: &[(u32, u32, u32)]) -> Vec<Operation> {
        operations(&writes.iter().copied().cycle().take(writes.len() * 8).collect::<Vec<_>>())
    }

    #[test]
    fn a_mutex_with_a_mark_for_waiters_is_held_while_it_is_not_zero() {
        let writes = repeated(&[(1, 0, 1), (2, 1, 1), (2, 1, 2), (1, 2, 0), (2, 0, 2), (2, 2, 0)]);
        assert_eq!(model(&[&writes]), Model::Exclusive(HeldWhen::NOT_ZERO));
        let paired = exclusive(&writes, HeldWhen::NOT_ZERO);
        assert_eq!((paired.sections.len(), paired.broken, paired.overlapping), (16, 0, 0));
        let second = paired.sections[1];
        assert_eq!((second.tid, second.requested), (Tid(2), Some(Moment(10))));
        assert_eq!((second.hits_before, second.hits_inside), (2, 0));
        assert_eq!((second.acquired, second.released), (Moment(40), Moment(50)));
    }

    #[test]
    fn a_lock_with_other_bits_beside_its_own_is_recognized() {
        // As Go's: bit 0 is the lock, and 8 and up count waiters.
        let writes =
            repeated(&[(1, 8, 9), (2, 9, 17), (1, 17, 16), (2, 16, 17), (3, 17, 17), (2, 17, 8)]);
        let Model::Exclusive(meaning) = model(&[&writes]) else { panic!("it is a lock") };
        assert_eq!(exclusive(&writes, meaning).sections.len(), 16);
        assert_eq!(meaning.held(PartialValue::all(0x100)), Some(false));
    }

    #[test]
    fn a_lock_that_is_free_at_one_is_recognized() {
        let writes =
            repeated(&[(1, 1, 0), (2, 0, u32::MAX), (1, u32::MAX, 1), (2, 1, 0), (2, 0, 1)]);
        let Model::Exclusive(meaning) = model(&[&writes]) else { panic!("it is a lock") };
        assert_eq!(meaning.held(PartialValue::all(1)), Some(false));
        assert_eq!(meaning.held(PartialValue::all(0)), Some(true));
    }

    #[test]
    fn a_bit_that_guards_the_queue_of_waiters_is_not_the_lock() {
        // As absl's: bit 3 is the lock, bit 6 guards the queue, bit 2 says that somebody waits, and bit 1
        // that somebody was woken. Whoever gives the lock back to a waiter takes bit 6 first, and gives
        // both back together.
        let writes = repeated(&[
            (1, 0, 8),
            (2, 8, 0x4c),
            (2, 0x4c, 0xc),
            (3, 0xc, 0x4c),
            (3, 0x4c, 0xc),
            (1, 0xc, 0x4c),
            (1, 0x4c, 2),
            (2, 2, 8),
            (2, 8, 0),
        ]);
        let Model::Exclusive(meaning) = model(&[&writes]) else { panic!("it is a lock") };
        let paired = exclusive(&writes, meaning);
        assert_eq!((paired.sections.len(), paired.broken, paired.overlapping), (16, 0, 0));
        assert_eq!(meaning.held(PartialValue::all(8)), Some(true));
        assert_eq!(meaning.held(PartialValue::all(0x44)), Some(false));
    }

    #[test]
    fn readers_that_overlap_share() {
        let writes = repeated(&[(1, 0, 1), (2, 1, 2), (1, 2, 1), (3, 1, 2), (2, 2, 1), (3, 1, 0)]);
        let Model::Shared(unit, _) = model(&[&writes]) else { panic!("readers share") };
        assert_eq!(unit, Unit(1));
        assert_eq!(shared(&writes, unit).sections.len(), 24);
    }

    #[test]
    fn what_one_sets_and_another_clears_is_no_lock() {
        let writes = repeated(&[(1, 0, 1), (2, 1, 0), (1, 0, 1), (3, 1, 0)]);
        assert_eq!(model(&[&writes]), Model::NoLock);
        // A sequence counter that two threads advance.
        let sequence: Vec<_> = (0..40).map(|n| (n % 2, n, n + 1)).collect();
        assert_eq!(model(&[&operations(&sequence)]), Model::NoLock);
        assert_eq!(model(&[&writes[..4]]), Model::Unknown);
    }

    #[test]
    fn who_takes_a_lock_only_to_hand_it_over_takes_it_no_second_time() {
        // As Java's monitors: who gives one back takes it again to wake a waiter.
        let mut writes = repeated(&[
            (1, 0, 1),
            (2, 1, 1),
            (1, 1, 0),
            (1, 0, 1),
            (1, 1, 0),
            (2, 0, 2),
            (2, 2, 0),
        ]);
        writes.iter_mut().skip(3).step_by(7).for_each(|write| write.hands_over = true);
        assert_eq!(model(&[&writes]), Model::Exclusive(HeldWhen::NOT_ZERO));
        let paired = exclusive(&writes, HeldWhen::NOT_ZERO);
        assert_eq!((paired.sections.len(), paired.acquisitions, paired.broken), (16, 16, 0));
        let (first, third) = (paired.sections[0], paired.sections[2]);
        assert_eq!((first.acquired, first.released), (Moment(0), Moment(20)));
        assert_eq!(third.released_before, Some(Moment(40)));
    }

    #[test]
    fn a_section_that_began_before_the_window_contradicts_nothing() {
        let writes = operations(&[(1, 1, 0), (1, 0, 1), (1, 1, 0)]);
        let paired = exclusive(&writes, HeldWhen::NOT_ZERO);
        assert_eq!((paired.sections.len(), paired.broken, paired.acquisitions), (1, 0, 1));
        assert_eq!(paired.sections[0].released_before, Some(Moment(0)));
    }
}
