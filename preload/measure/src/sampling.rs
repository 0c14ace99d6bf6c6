//! Decides which holds and think times are timed.
//!
//! Reading the clock twice per acquisition costs more than an uncontended acquisition itself. So a
//! thread that takes locks in quick succession times only some of its outermost sections, with all
//! acquisitions inside. (An outermost section begins while the thread holds no lock, at the release
//! before its first acquisition. It ends with the release after which the thread holds no lock
//! again.) The number of sections that are skipped before the next timed one is random. Its mean
//! keeps the cost of timing at a few percent. A timed section also counts for the skipped ones: its
//! weight is one more than their number. So the sums and counts of the histograms are unbiased
//! estimates. If the sections of a thread are [`UNHURRIED`] cycles apart, all of them are timed.
//!
//! Acquisitions, failed tries and everything about waiting are always counted.

use crate::thread::Thread;

/// If sections are this number of cycles apart or more, all of them are timed. The number is some
/// hundred times the cost of timing a section, divided by the percentage that timing may cost.
const UNHURRIED: u64 = 32_768;

/// The largest number of sections that are skipped on average.
const MOST: u64 = 31;

impl Thread {
    /// Is called at the first acquisition of an outermost section. Decides whether the section is
    /// timed, and returns that.
    #[inline(always)]
    pub(crate) fn begin_section(&self) -> bool {
        let skip = self.skip.get();
        self.timed.set(skip == 0);
        if skip != 0 {
            self.skip.set(skip - 1);
        }
        skip == 0
    }

    /// Returns whether the next section will be timed, so that its think time is needed.
    #[inline(always)]
    pub(crate) fn times_next(&self) -> bool {
        self.skip.get() == 0
    }

    /// Is called at the end of a timed section, at `now`. Draws the number of sections to skip.
    #[inline]
    pub(crate) fn draw_skip(&self, now: u64) {
        let since = now.saturating_sub(self.last_sample.replace(now));
        let period = (since / u64::from(self.weight.get().max(1))).max(1);
        let mean = if period >= UNHURRIED { 0 } else { (UNHURRIED / period).min(MOST) };
        let skip = if mean == 0 { 0 } else { self.random() % (2 * mean as u32 + 1) };
        self.skip.set(skip);
        self.weight.set(skip + 1);
    }

    /// Returns the next pseudo-random number (xorshift).
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
