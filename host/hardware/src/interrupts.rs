//! Interrupts: the short gaps that a thread sees in its own time, the timer's and, on a virtual machine, those of its host.

use std::time::Duration;

use crate::MeasureError;
use crate::gaps::{LONGEST_INTERRUPT, gaps};
use crate::pinned::Pinned;

/// How often a processor that computes is interrupted, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interrupted {
    /// From one interrupt to the next, in µs.
    pub(crate) every_us: f64,
    /// How long one takes in the mean, in ns.
    pub(crate) takes_ns: f64,
}

/// How long to look: fifty ticks of a timer that ticks 250 times in a second.
const TIME: Duration = Duration::from_millis(200);
/// Shorter gaps are the loop's own.
const SHORTEST: Duration = Duration::from_nanos(500);
/// Of fewer, the mean says nothing.
const LEAST: usize = 20;

impl Interrupted {
    /// Which part of its time that takes.
    fn share(self) -> f64 {
        (self.takes_ns / (self.every_us * 1e3)).clamp(0.0, 1.0)
    }
}

/// Which part of the calling thread's time interrupts take while it computes, from 0 to 1: the timer's and, on a virtual
/// machine, those of its host, which nothing else in the machine shows. It looks for a fifth of a second. 0 if it saw
/// too few to tell.
#[must_use]
pub fn interrupted_share() -> f64 {
    watched().map_or(0.0, Interrupted::share)
}

/// Watches the processor on which it is called.
fn watched() -> Option<Interrupted> {
    of_gaps(gaps(TIME, SHORTEST), TIME)
}

/// Watches a processor. None if it saw too few interrupts to tell.
pub(crate) fn interrupted(cpu: u32) -> Result<Option<Interrupted>, MeasureError> {
    let _here = Pinned::to(cpu)?;
    Ok(watched())
}

/// What these gaps in a time say. That of other threads does not count.
fn of_gaps(mut gaps: Vec<Duration>, time: Duration) -> Option<Interrupted> {
    let elsewhere: Duration = gaps.extract_if(.., |gap| *gap > LONGEST_INTERRUPT).sum();
    let had = time.saturating_sub(elsewhere);
    let count = gaps.len() as f64;
    let all: Duration = gaps.iter().sum();
    (gaps.len() >= LEAST).then(|| Interrupted {
        every_us: had.as_secs_f64() * 1e6 / count,
        takes_ns: all.as_secs_f64() * 1e9 / count,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{LEAST, interrupted, of_gaps};
    use crate::pinned::allowed;

    #[test]
    fn interrupts_are_counted_in_the_time_that_it_had() {
        let gaps = vec![Duration::from_micros(3); LEAST];
        let elsewhere = Duration::from_millis(4);
        let with_another = [&gaps[..], &[elsewhere]].concat();
        let seen = of_gaps(with_another, Duration::from_millis(84)).expect("enough");
        assert!((seen.every_us - 4_000.0).abs() < 1e-6, "{seen:?}");
        assert!((seen.takes_ns - 3_000.0).abs() < 1e-6, "{seen:?}");
        assert!((seen.share() - 0.000_75).abs() < 1e-9, "{seen:?}");
        assert!(of_gaps(gaps[1..].to_vec(), Duration::from_millis(80)).is_none());
    }

    #[test]
    fn they_take_a_part_of_the_time() {
        let cpu = *allowed().first().expect("it runs somewhere");
        let Some(seen) = interrupted(cpu).expect("it may run there") else { return };
        assert!(seen.takes_ns >= 500.0 && seen.takes_ns / 1000.0 < seen.every_us, "{seen:?}");
    }
}
