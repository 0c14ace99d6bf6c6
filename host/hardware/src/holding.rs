//! How long a core keeps a cache line that it has got to write, although another core asks for it.
//!
//! Two pinned threads add to one word, over and over. What an addition returns tells a thread whether the other one has
//! added since. So it counts its additions in a row, and knows how long one of them takes while nobody else adds.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kilocore_platform::Padded;

use crate::MeasureError;
use crate::pinned::Pinned;

/// How long they add.
const TIME: Duration = Duration::from_millis(50);
/// Additions between two looks at the clock.
const ROUND: u32 = 2_000;
/// Runs that are longer are no handovers: the other thread was interrupted, or had no processor.
const LONGEST: usize = 64;
/// Of fewer runs, the mean says nothing.
const LEAST: u64 = 1_000;

/// What two threads do to one word.
struct Shared {
    word: Padded<AtomicU64>,
    is_over: Padded<AtomicBool>,
}

/// How many additions in a row a thread made, how often.
#[derive(Debug)]
struct Runs([u64; LONGEST + 1]);

impl Runs {
    fn none() -> Self {
        Self([0; LONGEST + 1])
    }

    fn add(&mut self, length: usize) {
        if let Some(count) = self.0.get_mut(length) {
            *count += 1;
        }
    }

    /// How many additions a run has in the mean. None of too few, and if most of the time there were none.
    fn mean(&self) -> Option<f64> {
        let count: u64 = self.0.iter().sum();
        let additions: u64 = self.0.iter().zip(0..).map(|(count, length)| count * length).sum();
        (count >= LEAST).then(|| additions as f64 / count as f64)
    }
}

/// Returns how long one of two processors has a line to itself once it has got it, in ns. None if the host is too busy
/// to tell.
///
/// # Errors
/// [`MeasureError::Pin`] if the process may not run on one of them.
pub(crate) fn write_hold_ns(a: u32, b: u32) -> Result<Option<f64>, MeasureError> {
    let shared =
        Shared { word: Padded(AtomicU64::new(0)), is_over: Padded(AtomicBool::new(false)) };
    let here = Pinned::to(a)?;
    let (alone, _) = add(&shared, TIME / 10);
    let (runs, partner) = std::thread::scope(|scope| {
        let partner = scope.spawn(|| {
            let pinned = Pinned::to(b);
            while pinned.is_ok() && !shared.is_over.load(Ordering::Relaxed) {
                shared.word.fetch_add(1, Ordering::Relaxed);
            }
            pinned.map(drop)
        });
        let (_, runs) = add(&shared, TIME);
        shared.is_over.store(true, Ordering::Relaxed);
        (runs, partner.join().unwrap_or(Ok(())))
    });
    drop(here);
    partner?;
    Ok(runs.mean().map(|length| length * alone))
}

/// Adds for so long. Returns how long an addition took in the quickest round, in ns, and the runs.
fn add(shared: &Shared, time: Duration) -> (f64, Runs) {
    let (begun, mut quickest, mut runs) = (Instant::now(), f64::INFINITY, Runs::none());
    let (mut next, mut length) = (0, 0);
    while begun.elapsed() < time {
        let start = Instant::now();
        for _ in 0..ROUND {
            // It is asked as often by both, so that an addition takes both as long.
            if shared.is_over.load(Ordering::Relaxed) {
                break;
            }
            let was = shared.word.fetch_add(1, Ordering::Relaxed);
            if was != next {
                runs.add(length);
                length = 0;
            }
            (next, length) = (was + 1, length + 1);
        }
        quickest = quickest.min(start.elapsed().as_nanos() as f64 / f64::from(ROUND));
    }
    (quickest, runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pinned::allowed;

    #[test]
    fn the_mean_is_of_those_that_were_handed_over() {
        let mut runs = Runs::none();
        (0..LEAST / 2).for_each(|_| [2, 4].into_iter().for_each(|length| runs.add(length)));
        assert_eq!(runs.mean(), Some(3.0));
        runs.add(LONGEST + 1);
        assert_eq!(runs.mean(), Some(3.0), "somebody was interrupted");
        assert_eq!(Runs::none().mean(), None);
    }

    #[test]
    fn a_core_has_a_line_for_one_addition_at_least() {
        let [a, b, ..] = allowed()[..] else { return };
        let Some(held) = write_hold_ns(a, b).expect("it may run there") else { return };
        assert!((1.0..10_000.0).contains(&held), "{held} ns");
    }
}
