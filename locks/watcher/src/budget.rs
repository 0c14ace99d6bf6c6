//! How much of the program's time watching may take.
//!
//! In the first seconds everything has still to be learned, and a user waits for an answer. What later
//! windows tell makes the figures a little more precise. So the share is smaller then, and a program
//! that is watched for long loses little.

use kilocore_figures::Nanoseconds;

/// How long the first share lasts, in nanoseconds.
const AT_FIRST: f64 = 3e9;
/// The share of the cores' time that watching may take, by estimate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    /// What may be spent before any time has passed, so that the first windows need not wait, in
    /// nanoseconds.
    advance: f64,
    /// In the first seconds.
    at_first: f64,
    /// Later.
    later: f64,
}

impl Budget {
    /// Of a program that ran already, and serves somebody. Of real servers, some lost nothing and some
    /// up to four times as much of their throughput, perhaps because a thread that is held up holds up
    /// others.
    pub(crate) const ATTACHED: Self = Self { advance: 10e6, at_first: 0.012, later: 0.004 };
    /// Of a program that was started to be watched. It may run for a second only, and then the share
    /// of an attached one is too little to tell how long its locks are held. To read the symbols of a large one alone takes
    /// a tenth of a second.
    pub(crate) const STARTED: Self = Self { advance: 100e6, at_first: 0.08, later: 0.004 };

    /// How long after the begin so much may have been spent, on a machine of so many cores.
    pub(crate) fn due(self, spent: Nanoseconds, cores: f64) -> Nanoseconds {
        let of_a_core = (spent.0 as f64 - self.advance).max(0.0) / cores.max(1.0);
        let at_first = of_a_core.min(self.at_first * AT_FIRST);
        let later = of_a_core - at_first;
        Nanoseconds((at_first / self.at_first + later / self.later) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many milliseconds the next window is due, of a program that ran already.
    fn due_ms(spent: f64, cores: f64) -> u64 {
        due_by(Budget::ATTACHED, spent, cores)
    }

    fn due_by(budget: Budget, spent: f64, cores: f64) -> u64 {
        budget.due(Nanoseconds((spent * 1e6) as u64), cores).0.div_ceil(1_000_000)
    }

    #[test]
    fn the_first_windows_need_not_wait() {
        assert_eq!(due_ms(0.0, 2.0), 0);
        assert_eq!(due_ms(10.0, 2.0), 0);
    }

    #[test]
    fn watching_takes_a_smaller_share_after_the_first_seconds() {
        // 1.2 % of two cores for three seconds, and 0.4 % of them for seven more.
        assert_eq!(due_ms(10.0 + 36.0, 2.0), 1_500);
        assert_eq!(due_ms(10.0 + 72.0, 2.0), 3_000);
        assert_eq!(due_ms(10.0 + 72.0 + 56.0, 2.0), 10_000);
        assert_eq!(due_ms(10.0 + 72.0 + 24.0, 8.0), 1_000);
    }

    #[test]
    fn a_program_that_was_started_is_watched_more_at_first_alone() {
        // 8 % of two cores for three seconds, and 0.4 % of them for seven more, after a tenth of a second.
        assert_eq!(due_by(Budget::STARTED, 100.0 + 160.0, 2.0), 1_000);
        assert_eq!(due_by(Budget::STARTED, 100.0 + 480.0 + 56.0, 2.0), 10_000);
    }
}
