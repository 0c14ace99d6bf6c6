//! The gaps that a thread sees in its own time: something else had the processor meanwhile.

use std::time::{Duration, Instant};

/// In a longer gap, another thread had the processor. Shorter ones are interrupts.
pub(crate) const LONGEST_INTERRUPT: Duration = Duration::from_micros(200);

/// Computes for a time, and returns the gaps in it that are longer than the shortest.
pub(crate) fn gaps(time: Duration, shortest: Duration) -> Vec<Duration> {
    let begin = Instant::now();
    let (mut last, mut gaps) = (begin, Vec::new());
    while last - begin < time {
        let now = Instant::now();
        if now - last > shortest {
            gaps.push(now - last);
        }
        last = now;
    }
    gaps
}
