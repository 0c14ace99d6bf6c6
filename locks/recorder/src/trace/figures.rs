//! The figures of traced words, added up.

use kilocore_lock_profile::Traced;
use kilocore_references::TracedLock;

/// The sum of some words.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Figures {
    words: u64,
    acquisitions: u64,
    handovers: u64,
    threads: u64,
    holds: u64,
    instructions: u64,
    read: u64,
    written: u64,
    in_turn: u64,
    with_more_lines: u64,
    not_followed: u64,
}

impl Figures {
    pub(super) fn of(lock: &TracedLock) -> Self {
        Self {
            words: 1,
            acquisitions: lock.acquisitions,
            handovers: lock.handovers,
            threads: lock.threads,
            holds: lock.holds,
            instructions: lock.instructions,
            read: lock.lines_moved_to_read,
            written: lock.lines_moved_to_write,
            in_turn: lock.moves_in_turn,
            with_more_lines: lock.holds_with_more_lines,
            not_followed: lock.lines_not_followed,
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.words += other.words;
        self.acquisitions = self.acquisitions.saturating_add(other.acquisitions);
        self.handovers = self.handovers.saturating_add(other.handovers);
        self.threads = self.threads.max(other.threads);
        self.holds = self.holds.saturating_add(other.holds);
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
        self.in_turn = self.in_turn.saturating_add(other.in_turn);
        self.with_more_lines = self.with_more_lines.saturating_add(other.with_more_lines);
        self.not_followed = self.not_followed.saturating_add(other.not_followed);
    }

    /// As a profile has them, of so many places.
    pub(super) fn told(&self, places: u64) -> Traced {
        let each = |sum: u64, of: u64| sum as f64 / of.max(1) as f64;
        Traced {
            words: self.words,
            places,
            acquisitions: self.acquisitions,
            handovers: self.handovers,
            threads: self.threads,
            hold_instructions: each(self.instructions, self.holds),
            lines_read: each(self.read, self.handovers),
            lines_written: each(self.written, self.handovers),
            lines_in_turn: each(self.in_turn, self.handovers),
            holds_with_more_lines: self.with_more_lines,
            lines_not_followed: self.not_followed,
        }
    }
}
