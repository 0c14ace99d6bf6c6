//! Which writes take a lock and which give it back.
//!
//! Nobody says what the bits of an unknown lock's word mean. But a lock is taken and given back by
//! the same thread, in turn. So each of a few meanings is tried, such as "held while it is not 0"
//! and "held while bit 3 is set". The right one is the one by which threads take and give back in
//! turn, nearly always, and hold one at a time. A word for which none does so is no lock: threads
//! set it that do not clear it, as with semaphores, sequence counters and conditions.

use std::collections::BTreeMap;

use crate::history::{Operation, PartialValue};
use crate::ids::{Moment, Tid};

/// When a lock counts as held: `(value & mask == equals) == is`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeldWhen {
    mask: u32,
    equals: u32,
    is: bool,
}

/// How readers share a lock: each adds so much to the word, and takes it off again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit(pub(crate) u32);

impl HeldWhen {
    /// Held while the value is not 0.
    pub(crate) const NOT_ZERO: Self = Self { mask: u32::MAX, equals: 0, is: false };

    /// The meanings that are tried, the simplest first.
    pub(crate) fn tried() -> impl Iterator<Item = Self> {
        let bit = |bit: u32| Self { mask: 1 << bit, equals: 0, is: false };
        let whole = |equals, is| Self { mask: u32::MAX, equals, is };
        let bytes = [0, 8, 16, 24].map(|shift| Self { mask: 0xff << shift, equals: 0, is: false });
        [Self::NOT_ZERO, whole(0, true), whole(1, false)]
            .into_iter()
            .chain(bytes)
            .chain((0..32).map(bit))
            // A count of readers, all of whose bits a writer sets: Rust's read-write locks.
            .chain([Self { mask: 0x3fff_ffff, equals: 0x3fff_ffff, is: true }])
    }

    /// Whether the two are told by different parts of the word.
    pub(crate) fn is_apart_from(self, other: Self) -> bool {
        self.mask & other.mask == 0
    }

    /// Whether the lock is held at a value, as far as that is known.
    pub(crate) fn held(self, known: PartialValue) -> Option<bool> {
        let bits = self.mask & known.bits;
        let equal = if (known.value ^ self.equals) & bits != 0 {
            false
        } else if bits == self.mask {
            true
        } else if known.nonzero && self.mask == u32::MAX && self.equals == 0 {
            false
        } else {
            return None;
        };
        Some(equal == self.is)
    }
}

/// A critical section: from taking a lock to giving it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) tid: Tid,
    /// When the thread first tried in vain, if it did.
    pub(crate) requested: Option<Moment>,
    pub(crate) acquired: Moment,
    pub(crate) released: Moment,
    /// How many writes of the thread to the word were recorded before it had the lock, that to get
    /// it not counted, and while it had it, that to give it back not counted.
    pub(crate) hits_before: u32,
    pub(crate) hits_inside: u32,
    /// The core on which it was acquired.
    pub(crate) core: u32,
    /// The thread's release before, if it was seen.
    pub(crate) released_before: Option<Moment>,
    /// What the thread found in the word when it took the lock.
    pub(crate) found: PartialValue,
}

/// What writes come to, taken as those of a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Paired {
    /// Sorted by when they ended.
    pub(crate) sections: Vec<Section>,
    /// All acquisitions, also those whose section did not end in time.
    pub(crate) acquisitions: u64,
    /// Acquisitions by a thread that seemed to hold the lock, and releases by one that did not.
    pub(crate) broken: u64,
    /// Sections that overlap one of another thread by far.
    pub(crate) overlapping: u64,
}

/// What a write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Acquire,
    Release,
    /// It leaves the lock free, and whether it found it held is not known, or known only from its
    /// neighbours: who holds the lock gives it back by this, though another's release that was
    /// recorded late is between.
    Frees,
    Other,
}

/// A thread, as the writes go on.
#[derive(Debug, Default)]
struct Thread {
    holds_since: Option<(Moment, u32, PartialValue)>,
    requested: Option<Moment>,
    hits: u32,
    hits_before: u32,
    released: Option<Moment>,
    began: bool,
    /// Whether it has the lock only to hand it over.
    hands_over: bool,
}

/// Pairs exclusive acquisitions and releases by a meaning of the word.
pub(crate) fn exclusive(operations: &[Operation], meaning: HeldWhen) -> Paired {
    pair(operations, |operation| match (meaning.held(operation.old), meaning.held(operation.new)) {
        (Some(false), Some(true)) => Step::Acquire,
        (Some(true), Some(false)) => Step::Release,
        (None | Some(false), Some(false)) if !operation.failed => Step::Frees,
        _ => Step::Other,
    })
}

/// Pairs shared acquisitions and releases.
pub(crate) fn shared(operations: &[Operation], unit: Unit) -> Paired {
    pair(operations, |operation| match difference(operation) {
        Some(change) if change == unit.0 => Step::Acquire,
        Some(change) if change == unit.0.wrapping_neg() => Step::Release,
        _ => Step::Other,
    })
}

/// Pairs exclusive acquisitions of a lock that readers share, among whose writes they are.
pub(crate) fn writers(operations: &[Operation], unit: Unit, meaning: HeldWhen) -> Paired {
    exclusive(&without_readers(operations, unit), meaning)
}

/// Leaves out sections of readers who announced themselves while a writer had the lock: they had
/// still to wait. All count as acquisitions.
pub(crate) fn without_writer(mut paired: Paired, meaning: Option<HeldWhen>) -> Paired {
    let free = |section: &Section| meaning.is_none_or(|m| m.held(section.found) != Some(true));
    paired.sections.retain(free);
    paired
}

/// Leaves out sections of writers who announced themselves while readers had the lock.
pub(crate) fn without_met_readers(mut paired: Paired, unit: Unit, meaning: HeldWhen) -> Paired {
    paired.sections.retain(|section| section.found.value & !meaning.mask < unit.0);
    paired
}

fn without_readers(operations: &[Operation], unit: Unit) -> Vec<Operation> {
    let reads = [unit.0, unit.0.wrapping_neg()].map(Some);
    operations.iter().copied().filter(|operation| !reads.contains(&difference(operation))).collect()
}

pub(crate) fn difference(operation: &Operation) -> Option<u32> {
    let known = operation.old.bits & operation.new.bits == u32::MAX;
    known.then(|| operation.new.value.wrapping_sub(operation.old.value))
}

fn pair(operations: &[Operation], step: impl Fn(&Operation) -> Step) -> Paired {
    let mut paired = Paired::default();
    let mut threads: BTreeMap<u64, Thread> = BTreeMap::new();
    for operation in operations {
        let thread = threads.entry(operation.actor).or_default();
        match (step(operation), thread.holds_since) {
            (Step::Acquire, None) if operation.hands_over => {
                thread.hands_over = true;
            }
            (Step::Release | Step::Frees, None) if thread.hands_over => {
                // Its section ended when it gave the lock back first.
                *thread = Thread { released: Some(operation.at), began: true, ..Thread::default() };
            }
            (Step::Acquire, held) => {
                thread.hands_over = false;
                paired.acquisitions += 1;
                paired.broken += u64::from(held.is_some());
                thread.holds_since = Some((operation.at, operation.core, operation.old));
                thread.hits_before = std::mem::take(&mut thread.hits);
            }
            (Step::Release | Step::Frees, Some((acquired, core, found))) => {
                paired.sections.push(Section {
                    tid: operation.tid,
                    requested: thread.requested.take(),
                    acquired,
                    released: operation.at,
                    hits_before: thread.hits_before,
                    hits_inside: std::mem::take(&mut thread.hits),
                    core,
                    released_before: thread.released,
                    found,
                });
                *thread = Thread { released: Some(operation.at), began: true, ..Thread::default() };
            }
            (Step::Release, None) => {
                // The first section of a thread may have begun before the window.
                paired.broken += u64::from(thread.began);
                *thread = Thread { released: Some(operation.at), began: true, ..Thread::default() };
            }
            (Step::Other | Step::Frees, held) => {
                thread.hits += 1;
                if held.is_none() {
                    thread.requested.get_or_insert(operation.at);
                }
            }
        }
        thread.began = true;
    }
    paired.overlapping = overlapping(&paired.sections);
    paired
}

/// Sections that lie within another's for most of their time. Those of a lock do not, but for the
/// little by which the moments of two cores' records are out of order.
fn overlapping(sections: &[Section]) -> u64 {
    let mut by_start: Vec<&Section> = sections.iter().collect();
    by_start.sort_by_key(|section| (section.acquired, section.tid));
    let (mut count, mut latest) = (0, Moment(0));
    for section in by_start {
        let end = section.released.min(latest);
        let inside = (end - section.acquired).0;
        let whole = (section.released - section.acquired).0;
        count += u64::from(2 * inside > whole);
        latest = latest.max(section.released);
    }
    count
}
