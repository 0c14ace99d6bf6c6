//! Which holds and think times are timed.
//!
//! Reading the clock twice per acquisition costs more than an uncontended acquisition itself. A
//! thread that takes locks in quick succession therefore times only some of its outermost
//! sections (from the release before an acquisition with no lock held to the release that leaves
//! none held), with all acquisitions inside. How many it skips before the next is drawn at
//! random around a mean that keeps the cost of timing at a few percent, and a timed section
//! counts for the skipped ones, too: its weight is one more than their number. Sums and counts
//! of histograms are then unbiased estimates. A thread whose sections are [`UNHURRIED`] cycles
//! apart times all of them.
//!
//! Acquisitions, failed tries and everything about waiting are counted without exception.

use crate::thread::Thread;

/// Sections that follow one another in this many cycles or more are all timed: some hundred
/// times what timing one costs, divided by the percentage that it may cost.
const UNHURRIED: u64 = 32_768;

/// At most this many sections are skipped on average.
const MOST: u64 = 31;

impl Thread {
    /// At the acquisition that begins an outermost section: decides whether it is timed.
    #[inline(always)]
    pub(crate) fn begin_section(&self) -> bool {
        let skip = self.skip.get();
        self.timed.set(skip == 0);
        if skip != 0 {
            self.skip.set(skip - 1);
        }
        skip == 0
    }

    /// Whether the section that begins next will be timed, so that its think time is needed.
    #[inline(always)]
    pub(crate) fn times_next(&self) -> bool {
        self.skip.get() == 0
    }

    /// At the end of a timed section, at `now`: draws how many to skip.
    #[inline]
    pub(crate) fn draw_skip(&self, now: u64) {
        let since = now.saturating_sub(self.last_sample.replace(now));
        let period = (since / u64::from(self.weight.get().max(1))).max(1);
        let mean = if period >= UNHURRIED { 0 } else { (UNHURRIED / period).min(MOST) };
        let skip = if mean == 0 { 0 } else { self.random() % (2 * mean as u32 + 1) };
        self.skip.set(skip);
        self.weight.set(skip + 1);
    }

    /// The next pseudo-random number (xorshift).
    pub(crate) fn random(&self) -> u32 {
        let mut state = self.random.get();
        if state == 0 {
            state = self.last_sample.get() as u32 | 1;
        }
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        self.random.set(state);
        state
    }
}
