//! What a trace under QEMU adds to a profile.
//!
//! Under QEMU every access of a program is seen. So which lines move with a lock is counted there, while
//! the times of a profile only let it be estimated ([`MigratingLines`](crate::MigratingLines)). Times are
//! never taken from a trace: QEMU changes them.

use serde::{Deserialize, Serialize};

use crate::Frame;

/// What was counted of a lock under QEMU. Figures for each handover are means.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Traced {
    /// How many words of the trace it is the sum of. Locks that are acquired at the same place have the
    /// same sum, as a trace does not tell which word is which of them.
    pub words: u64,
    /// Of how many places of the profile the sum is. It is above 1 if a trace does not tell apart locks
    /// that were made at different places and are acquired at the same one.
    pub places: u64,
    /// How often the words were taken.
    pub acquisitions: u64,
    /// How often a thread took a word of which it had not been the last holder.
    pub handovers: u64,
    /// How many threads took one of them, up to 64; of several words, those of the word that most took.
    pub threads: u64,
    /// How many instructions a word was held: the mean over all holds.
    pub hold_instructions: f64,
    /// Lines of data, for each handover, that a holder only read and that another one had written since
    /// it last had them.
    pub lines_read: f64,
    /// Lines of data, for each handover, that a holder wrote and that another one had used since it last
    /// had written them. The line of the word itself moves as well, and is not counted.
    pub lines_written: f64,
    /// How many of all these lines had to come one after the other, for each handover: the longest chain of
    /// lines of a hold in which each is fetched only when the one before has come. The others are fetched
    /// meanwhile. So this is what a handover costs, in transfers.
    #[serde(default)]
    pub lines_in_turn: f64,
    /// How many of the acquisitions were holds in which more lines were used than are followed. The lines
    /// above lack the others.
    #[serde(default, skip_serializing_if = "is_none")]
    pub holds_with_more_lines: u64,
    /// Uses of lines that are not followed, because holders have used too many others. The lines above
    /// lack these, too.
    #[serde(default, skip_serializing_if = "is_none")]
    pub lines_not_followed: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// More lines than this share that are left out make figures worth a warning.
const WORTH_A_WARNING: f64 = 0.01;

impl Traced {
    /// Whether so many lines were left out that the figures are too low by more than a little.
    #[must_use]
    pub fn lacks_lines(&self) -> bool {
        let lacking = self.holds_with_more_lines.max(self.lines_not_followed);
        lacking as f64 > WORTH_A_WARNING * self.acquisitions as f64
    }

    /// Lines of data that move, for each handover.
    #[must_use]
    pub fn lines(&self) -> f64 {
        self.lines_read + self.lines_written
    }
}

/// A word that a program uses as a lock and that is none of the profile's locks: one of the program's
/// own, of a runtime, or of the C library's.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TracedWord {
    /// The instruction that first took it and the callers of that, the innermost first.
    pub site: Vec<Frame>,
    /// What was counted of it.
    #[serde(flatten)]
    pub traced: Traced,
}

/// A run of the program under QEMU, in which its locks were traced. What was counted of the locks that
/// the profile lists is with these ([`Lock::traced`](crate::Lock::traced)).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Trace {
    /// How it ended, as a shell reports it.
    pub exit_status: i32,
    /// Further words that were used as locks. Those with the most acquisitions come first.
    pub words: Vec<TracedWord>,
    /// How many further words are not listed, as they were taken less often than all that are.
    pub words_left_out: u64,
    /// How many atomic updates were of words that were not followed, as there were too many.
    pub updates_not_followed: u64,
    /// Processes that the program forked. They were not traced.
    pub forks: u64,
    /// Threads that were not traced, as too many lived at a time.
    pub threads_not_traced: u64,
    /// The program that was executed instead of this one. What it did was not traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
}
