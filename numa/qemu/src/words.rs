//! All words that were updated in one step.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use kilocore_references::{CALLERS, TracedLock};

use crate::hold::Holds;
use crate::memory;
use crate::word::{Change, Word};

/// So many words are followed. Further ones are counted.
const MOST_WORDS: usize = 1 << 14;

/// The words, by their addresses.
#[derive(Debug, Default)]
struct Words {
    known: HashMap<u64, Word>,
    /// Updates of words that are not followed.
    not_followed: u64,
}

static WORDS: LazyLock<Mutex<Words>> = LazyLock::new(Mutex::default);

fn words() -> MutexGuard<'static, Words> {
    WORDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who did something to a word, where, and when by its own clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct By {
    pub(crate) thread: u32,
    pub(crate) code: u64,
    pub(crate) callers: [u64; CALLERS],
    pub(crate) clock: u64,
}

/// A thread has updated a word in one step. Returns whether that took a lock or gave it back.
pub(crate) fn updated(address: u64, bytes: u64, by: By, holds: &mut Holds) -> bool {
    if bytes > 8 || !address.is_multiple_of(bytes) {
        return false;
    }
    let mut words = words();
    if words.known.len() >= MOST_WORDS && !words.known.contains_key(&address) {
        words.not_followed += 1;
        return false;
    }
    let word = words.known.entry(address).or_insert_with(|| Word::new(address, bytes));
    let forgotten = apply(word, by, holds);
    let changed = forgotten.is_some();
    if let Some(forgotten) = forgotten.flatten()
        && let Some(word) = words.known.get_mut(&forgotten)
    {
        word.abandon(by.thread);
    }
    changed
}

/// A thread has stored to a word that it holds. Returns whether that gave it back.
pub(crate) fn stored(address: u64, by: By, holds: &mut Holds) -> bool {
    let mut words = words();
    let Some(word) = words.known.get_mut(&address) else { return false };
    apply(word, by, holds).is_some()
}

/// Something if the word was taken or given back, with another one that is forgotten for it.
#[expect(clippy::option_option, reason = "whether there was a change, and what it displaced")]
fn apply(word: &mut Word, by: By, holds: &mut Holds) -> Option<Option<u64>> {
    if word.is_no_lock {
        return None;
    }
    let address = word.seen.address;
    match word.update(by.thread, memory::number(address, word.bytes)?) {
        Change::Nothing => None,
        Change::Taken => {
            word.seen.taken_by(by.code, by.callers);
            Some(holds.begin(address, by.clock))
        }
        Change::GivenBack => {
            if let Some(hold) = holds.end(address) {
                word.add(&hold, by.thread, by.clock.saturating_sub(hold.since));
                holds.reuse(hold);
            }
            Some(None)
        }
        Change::Lost => {
            holds.end(address).into_iter().for_each(|hold| holds.reuse(hold));
            None
        }
    }
}

/// A thread ends, whatever it holds.
pub(crate) fn abandon(thread: u32, holds: &mut Holds) {
    if holds.is_empty() {
        return;
    }
    let mut words = words();
    for address in holds.drain() {
        if let Some(word) = words.known.get_mut(&address) {
            word.abandon(thread);
        }
    }
}

/// What was seen so far of each lock, in the order of addresses, and how many updates were not followed.
pub(crate) fn summaries() -> (Vec<TracedLock>, u64) {
    let words = words();
    let mut locks: Vec<TracedLock> = words.known.values().filter_map(Word::summary).collect();
    locks.sort_unstable_by_key(|lock| lock.address);
    (locks, words.not_followed)
}
