//! How much of the program's time watching may take.
//!
//! In the first seconds everything has still to be learned, and a user waits for an answer. What later
//! windows tell makes the figures a little more precise. So the share is smaller then, and a program
//! that is watched for long loses little.

use kilocore_figures::Nanoseconds;

/// The share of the cores' time that watching may take at first, by estimate. Of real servers, some
/// lost nothing and some up to four times as much of their throughput, perhaps because a thread that
/// is held up holds up others.
const SHARE: f64 = 0.012;
/// The share that it may take later.
const LATER: f64 = 0.004;
/// How long the first one lasts, in nanoseconds.
const AT_FIRST: f64 = 3e9;
/// What may be spent before any time has passed, so that the first windows need not wait, in
/// nanoseconds.
const ADVANCE: f64 = 10e6;

/// How long after the begin so much may have been spent, on a machine of so many cores.
pub(crate) fn due(spent: Nanoseconds, cores: f64) -> Nanoseconds {
    let of_a_core = (spent.0 as f64 - ADVANCE).max(0.0) / cores.max(1.0);
    let at_first = of_a_core.min(SHARE * AT_FIRST);
    Nanoseconds((at_first / SHARE + (of_a_core - at_first) / LATER) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many milliseconds the next window is due.
    fn due_ms(spent: f64, cores: f64) -> u64 {
        due(Nanoseconds((spent * 1e6) as u64), cores).0.div_ceil(1_000_000)
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
}
