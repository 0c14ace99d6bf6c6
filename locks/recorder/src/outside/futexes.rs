//! What the words are that threads sleep on.

use std::collections::BTreeMap;

use kilocore_lock_profile::{Futexes, Object, ObjectKind};

use kilocore_linux::Word;

/// How many words are told apart. Nothing is known of any beyond them.
const ROOM: usize = 1 << 14;

/// Looks at threads in futexes, by process and word.
#[derive(Debug, Default)]
pub(crate) struct Words {
    words: BTreeMap<(u32, u64), (u64, Option<ObjectKind>)>,
    joins: u64,
    unknown: u64,
}

impl Words {
    /// Counts looks at a thread of a process.
    pub(crate) fn add(&mut self, pid: u32, word: Word, looks: u64) {
        match word {
            Word::Thread => self.joins += looks,
            Word::Unknown => self.unknown += looks,
            Word::At(address) => {
                let known = self.words.contains_key(&(pid, address));
                if !known && self.words.len() >= ROOM {
                    self.unknown += looks;
                } else {
                    self.words.entry((pid, address)).or_default().0 += looks;
                }
            }
        }
    }

    /// Whether there are words that are not explained yet.
    pub(crate) fn any_open(&self) -> bool {
        self.words.values().any(|(_, kind)| kind.is_none())
    }

    /// Explains the words that lie in these objects of a process.
    pub(crate) fn explain(&mut self, pid: u32, objects: impl IntoIterator<Item = Object>) {
        for object in objects {
            let places = (pid, object.place.start)..(pid, object.place.end);
            for (_, (_, kind)) in self.words.range_mut(places) {
                kind.get_or_insert(object.kind);
            }
        }
    }

    pub(crate) fn totals(&self) -> Futexes {
        let mut totals = Futexes { joins: self.joins, unknown: self.unknown, ..Futexes::default() };
        for (looks, kind) in self.words.values() {
            *match kind {
                Some(ObjectKind::Lock) => &mut totals.locks,
                Some(ObjectKind::Condition) => &mut totals.conditions,
                Some(ObjectKind::Barrier) => &mut totals.barriers,
                None => &mut totals.elsewhere,
            } += looks;
        }
        totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_belongs_to_the_object_it_lies_in_of_its_own_process() {
        let mut words = Words::default();
        words.add(1, Word::At(0x1000), 3);
        words.add(1, Word::At(0x2008), 4);
        words.add(2, Word::At(0x1000), 5);
        words.add(1, Word::Thread, 6);
        words.add(1, Word::Unknown, 7);
        assert!(words.any_open());
        let lock = Object::at(0x1000, ObjectKind::Lock);
        let condition = Object::at(0x2000, ObjectKind::Condition);
        words.explain(1, [lock, condition]);
        words.explain(1, [Object::at(0x2000, ObjectKind::Lock)]);
        let expected =
            Futexes { locks: 3, conditions: 4, barriers: 0, joins: 6, elsewhere: 5, unknown: 7 };
        assert_eq!(words.totals(), expected);
        assert!(words.any_open(), "the other process's word");
    }

    #[test]
    fn room_is_bounded() {
        let mut words = Words::default();
        for word in 0..2 * ROOM as u64 {
            words.add(1, Word::At(word), 1);
        }
        assert_eq!(words.words.len(), ROOM);
        assert_eq!(words.totals().total(), 2 * ROOM as u64);
    }
}
