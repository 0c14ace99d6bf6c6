//! What is kept of the windows until roles and kinds are known, which the graph is made from.
//!
//! The graph needs moments, not sums: who waited while whom held what. Names of threads and kinds of
//! words come last, so the waits and holds of the windows are kept, in a bounded amount of memory.
//! Beyond the bound every second window is dropped, and from then on every second one is kept. So
//! the windows that remain are spread evenly over the run.

use kilocore_figures::Nanoseconds;

/// The place of a thread in the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ThreadIndex(pub(crate) u32);

/// The place of a word in the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WordIndex(pub(crate) u32);

impl ThreadIndex {
    pub(crate) fn get(self) -> usize {
        self.0 as usize
    }
}

impl WordIndex {
    pub(crate) fn get(self) -> usize {
        self.0 as usize
    }
}

/// A wait at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) thread: ThreadIndex,
    pub(crate) word: WordIndex,
    pub(crate) from: u64,
    pub(crate) until: u64,
    /// Who ended it, if that was seen.
    pub(crate) waker: Option<ThreadIndex>,
}

/// A lock was taken or released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) word: WordIndex,
    pub(crate) thread: ThreadIndex,
    pub(crate) at: u64,
    pub(crate) acquired: bool,
}

/// What a thread does that does not wait at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Activity {
    /// It has a core.
    Computing,
    /// It would run, and has no core.
    Ready,
    /// It sleeps, or waits for input, output or the kernel.
    Asleep,
    /// No event tells what it does.
    #[default]
    Unknown,
}

/// A thread begins to do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Begin {
    pub(crate) at: u64,
    pub(crate) thread: ThreadIndex,
    pub(crate) doing: Activity,
}

/// The waits and turns of a window, and what threads did besides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) waits: Vec<Wait>,
    /// Acquisitions and releases, in the order of time.
    pub(crate) turns: Vec<Turn>,
    /// What threads begin to do, in any order.
    pub(crate) begins: Vec<Begin>,
}

impl Window {
    pub(crate) fn length(&self) -> Nanoseconds {
        Nanoseconds(self.until.saturating_sub(self.from))
    }

    fn records(&self) -> usize {
        // An empty window also takes room.
        1 + self.waits.len() + self.turns.len() + self.begins.len()
    }
}

/// How many waits, turns and other changes are kept at most: some 80 MB. A busy program has some hundred
/// thousand of each in a second, so this is some ten seconds of windows, or minutes of a program that
/// is watched a few per cent of its time.
const MOST_RECORDS: usize = 4_000_000;

/// The windows that are kept.
#[derive(Debug)]
pub(crate) struct Windows {
    kept: Vec<Window>,
    records: usize,
    most: usize,
    /// One of so many windows is kept.
    stride: u64,
    /// How many windows there were.
    seen: u64,
}

impl Default for Windows {
    fn default() -> Self {
        Self::with_room(MOST_RECORDS)
    }
}

impl Windows {
    fn with_room(most: usize) -> Self {
        Self { kept: Vec::new(), records: 0, most, stride: 1, seen: 0 }
    }

    /// Keeps a window, or passes it over.
    pub(crate) fn push(&mut self, window: Window) {
        let number = self.seen;
        self.seen += 1;
        if !number.is_multiple_of(self.stride) {
            return;
        }
        self.records += window.records();
        self.kept.push(window);
        // The last window stays, whatever its size.
        while self.records > self.most && self.kept.len() > 1 {
            self.stride = self.stride.saturating_mul(2);
            let mut number = 0_usize;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.records = self.kept.iter().map(Window::records).sum();
        }
    }

    pub(crate) fn kept(&self) -> &[Window] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::{Window, Windows};

    #[test]
    fn the_windows_that_are_kept_are_spread_evenly_over_the_run() {
        let mut windows = Windows::with_room(10);
        for from in 0..1_000 {
            windows.push(Window { from, until: from + 1, ..Window::default() });
        }
        let kept: Vec<u64> = windows.kept().iter().map(|window| window.from).collect();
        assert!((5..=10).contains(&kept.len()), "{kept:?}");
        let steps: Vec<u64> = kept.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|&step| step == steps[0]), "{kept:?}");
        assert!(*kept.last().expect("some are kept") > 850, "{kept:?}");
    }
}
