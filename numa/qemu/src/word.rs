//! A word that may be a lock: who has it, and what was seen of it.
//!
//! A word is *taken* by an atomic update that sets bits which are not set in a free word, and *given back*
//! when the same thread clears them. A free word is 0, or one in which only other bits are set, as those
//! that some locks keep for waiters. The bits are learned when the word is taken while it is 0.
//!
//! A word that its holder changes without giving it back, or that others give back, is more likely a
//! counter. If that happens often, it is no lock from then on.

use std::collections::HashMap;

use kilocore_references::TracedLock;

use crate::chain::{self, Moved};
use crate::hold::{self, Hold, Used};

/// So many lines are remembered of one word.
const MOST_LINES: usize = 1024;
/// So many times may a word behave like no lock before it is judged by its share.
const STRIKES: u64 = 4;

/// What a change of a word meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Taken,
    GivenBack,
    /// The thread does not have it, and does not take or give it back.
    Nothing,
    /// The thread has it no more, and did not give it back as a lock.
    Lost,
}

/// Who has a line, as far as was seen while the lock was held.
#[derive(Debug, Default)]
struct Line {
    /// A bit for each thread that has it, by the thread's number modulo 64.
    copies: u64,
    was_written: bool,
}

/// A word that the program updates atomically, which may be a lock.
#[derive(Debug)]
pub(crate) struct Word {
    /// How many bytes it has.
    pub(crate) bytes: u64,
    /// Whether it behaved like no lock.
    pub(crate) is_no_lock: bool,
    value: u64,
    holder: Option<u32>,
    last_holder: Option<u32>,
    /// The bits that its holder set.
    set: u64,
    /// The bits that holders have set in a word that was 0.
    learned: u64,
    strikes: u64,
    threads: u64,
    lines: HashMap<u64, Line>,
    pub(crate) seen: TracedLock,
}

impl Word {
    /// A word of which nothing was seen before. It is taken to have been 0.
    pub(crate) fn new(address: u64, bytes: u64) -> Self {
        Self {
            bytes,
            is_no_lock: false,
            value: 0,
            holder: None,
            last_holder: None,
            set: 0,
            learned: 0,
            strikes: 0,
            threads: 0,
            lines: HashMap::new(),
            seen: TracedLock::new(address),
        }
    }

    /// A thread has updated the word, which has this value now.
    pub(crate) fn update(&mut self, thread: u32, value: u64) -> Change {
        let before = std::mem::replace(&mut self.value, value);
        match self.holder {
            Some(holder) if holder == thread => self.update_own(before, value),
            Some(_) => {
                // Waiters change words that others hold, too: from 1 to 2, for instance.
                if value != before && (value == 0 || value == before & !self.set) {
                    self.holder = None;
                    self.strike();
                }
                Change::Nothing
            }
            None => self.update_free(thread, before, value),
        }
    }

    fn update_own(&mut self, before: u64, value: u64) -> Change {
        // A counter would set other bits.
        if value & self.set == 0 && value & !before == 0 {
            self.holder = None;
            return Change::GivenBack;
        }
        if value == before {
            return Change::Nothing;
        }
        self.strike();
        if !self.is_no_lock {
            return Change::Nothing;
        }
        self.holder = None;
        Change::Lost
    }

    fn update_free(&mut self, thread: u32, before: u64, value: u64) -> Change {
        let set = value & !before;
        let takes = if before == 0 { set != 0 } else { set & self.learned != 0 };
        if !takes {
            return Change::Nothing;
        }
        if before == 0 {
            self.learned |= set;
        }
        self.set = set;
        self.holder = Some(thread);
        self.seen.acquisitions += 1;
        self.threads |= thread_bit(thread);
        if self.last_holder.replace(thread).is_some_and(|last| last != thread) {
            self.seen.handovers += 1;
        }
        Change::Taken
    }

    fn strike(&mut self) {
        self.strikes += 1;
        self.is_no_lock |= self.strikes > STRIKES && self.strikes * 4 > self.seen.acquisitions;
    }

    /// Its holder will not give it back.
    pub(crate) fn abandon(&mut self, thread: u32) {
        if self.holder == Some(thread) {
            self.holder = None;
            self.seen.abandoned += 1;
        }
    }

    /// Adds up what its holder did until it gave the word back.
    pub(crate) fn add(&mut self, hold: &Hold, thread: u32, instructions: u64) {
        self.seen.count_hold(instructions);
        self.seen.holds_with_more_lines += u64::from(hold.lines.had_more);
        let mut moved = [Moved::default(); hold::MOST_LINES];
        for (used, moved) in hold.lines.used().iter().zip(&mut moved) {
            *moved = self.use_line(used, thread_bit(thread));
        }
        let moved = &moved[..hold.lines.used().len()];
        self.seen.moves_in_turn += chain::longest(&hold.lines, moved);
    }

    /// The holder has used a line.
    fn use_line(&mut self, used: &Used, me: u64) -> Moved {
        if used.line == self.seen.address >> 6 {
            return Moved::default();
        }
        if self.lines.len() >= MOST_LINES && !self.lines.contains_key(&used.line) {
            self.seen.lines_not_followed += 1;
            return Moved::default();
        }
        let known = self.lines.entry(used.line).or_default();
        let (has_it, others_have) = (known.copies & me != 0, known.copies & !me != 0);
        let fetched = known.was_written && !has_it;
        if used.written {
            let moved = fetched || others_have;
            self.seen.lines_moved_to_write += u64::from(moved);
            *known = Line { copies: me, was_written: true };
            return Moved { moved, fetched: moved && !has_it };
        }
        self.seen.lines_moved_to_read += u64::from(fetched);
        known.copies |= me;
        Moved { moved: fetched, fetched }
    }

    /// What was seen of it, if it is a lock.
    pub(crate) fn summary(&self) -> Option<TracedLock> {
        let is_lock = !self.is_no_lock && self.seen.holds > 0;
        is_lock.then(|| {
            let mut seen = self.seen.clone();
            seen.threads = self.threads.count_ones().into();
            seen
        })
    }
}

fn thread_bit(thread: u32) -> u64 {
    1 << (thread % 64)
}
