//! Whether a read takes a cache line over that another core has written.
//!
//! Another core writes a word, then this one reads it, and later this one adds to it. If the read has taken the line, the
//! addition takes as long as one to a word of its own. If both have a copy since, it takes about as long as one to a word
//! that the other core has written, as the other copy has to go.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kilocore_figures::ascending;
use kilocore_platform::Padded;

use crate::MeasureError;
use crate::pinned::Pinned;

/// Additions of each kind.
const EACH: usize = 1_000;
/// How long the threads take for it at most.
const LIMIT: Duration = Duration::from_millis(250);
/// How long a core leaves a line alone, so that whatever is under way comes to an end.
const REST: Duration = Duration::from_micros(1);
/// Whoever says `OVER` ends.
const OVER: u32 = u32::MAX;

struct Shared {
    word: Padded<AtomicU64>,
    /// Even if it is the partner's turn to write the word, and odd if it has.
    turn: Padded<AtomicU32>,
}

/// What was done to the word before the addition.
#[derive(Debug, Clone, Copy)]
enum Before {
    /// This core has written it.
    OwnWrite,
    /// The other one has written it.
    Write,
    /// The other one has written it, and then this one has read it.
    WriteThenRead,
}

/// Returns whether a read by one of two processors takes the line. None if the host is too busy to tell, or the three kinds
/// of additions take as long as each other.
///
/// # Errors
/// [`MeasureError::Pin`] if the process may not run on one of them.
pub(crate) fn migratory_sharing(a: u32, b: u32) -> Result<Option<bool>, MeasureError> {
    let shared = Shared { word: Padded(AtomicU64::new(0)), turn: Padded(AtomicU32::new(1)) };
    let here = Pinned::to(a)?;
    let (times, partner) = std::thread::scope(|scope| {
        let partner = scope.spawn(|| {
            let pinned = Pinned::to(b);
            if pinned.is_ok() {
                write(&shared);
            }
            pinned.map(drop)
        });
        let deadline = Instant::now() + LIMIT;
        let mut time = |before| additions(&shared, before, deadline);
        let times = [Before::OwnWrite, Before::Write, Before::WriteThenRead].map(&mut time);
        shared.turn.store(OVER, Ordering::Release);
        (times, partner.join().unwrap_or(Ok(())))
    });
    drop(here);
    partner?;
    let [Some(own), Some(written), Some(read)] = times else { return Ok(None) };
    Ok(takes(own, written, read))
}

/// What three times of an addition say, in ns. Nothing if it is not clearly nearer to one of the first two.
fn takes(own: f64, written: f64, read: f64) -> Option<bool> {
    let (least, nearly_all) = (own + (written - own) / 3.0, written - (written - own) / 3.0);
    // A clock that ticks every ten nanoseconds tells no less.
    if written - own < 5.0 || (least..nearly_all).contains(&read) {
        return None;
    }
    Some(read < least)
}

/// The partner: writes the word whenever it is its turn.
fn write(shared: &Shared) {
    loop {
        let turn = shared.turn.load(Ordering::Acquire);
        if turn == OVER {
            return;
        }
        if turn.is_multiple_of(2) {
            shared.word.store(u64::from(turn), Ordering::Relaxed);
            // If it is over meanwhile, it stays so.
            let _ =
                shared.turn.compare_exchange(turn, turn + 1, Ordering::AcqRel, Ordering::Relaxed);
        }
        std::hint::spin_loop();
    }
}

/// How long an addition takes, in ns. None if the partner did not come.
fn additions(shared: &Shared, before: Before, deadline: Instant) -> Option<f64> {
    let mut times = Vec::with_capacity(EACH);
    for _ in 0..EACH {
        let turn = shared.turn.fetch_add(1, Ordering::AcqRel) + 1;
        while shared.turn.load(Ordering::Acquire) == turn {
            if Instant::now() > deadline {
                return None;
            }
        }
        rest();
        match before {
            Before::OwnWrite => shared.word.store(1, Ordering::Relaxed),
            Before::Write => {}
            Before::WriteThenRead => {
                std::hint::black_box(shared.word.load(Ordering::Relaxed));
            }
        }
        rest();
        let start = Instant::now();
        std::hint::black_box(shared.word.fetch_add(1, Ordering::SeqCst));
        times.push(start.elapsed().as_nanos() as f64);
    }
    lower_mean(times)
}

/// The mean of the lower nine tenths: a clock may tick in tens of nanoseconds, so that a median would tell no less.
fn lower_mean(times: Vec<f64>) -> Option<f64> {
    let mut times = ascending(times);
    times.truncate(times.len() / 10 * 9);
    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
}

fn rest() {
    let begun = Instant::now();
    while begun.elapsed() < REST {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pinned::allowed;

    #[test]
    fn only_a_clear_difference_tells() {
        assert_eq!(takes(20.0, 140.0, 22.0), Some(true));
        assert_eq!(takes(20.0, 140.0, 155.0), Some(false));
        assert_eq!(takes(20.0, 140.0, 80.0), None);
        assert_eq!(takes(20.0, 22.0, 20.0), None);
    }

    #[test]
    fn it_comes_to_an_end() {
        let [a, b, ..] = allowed()[..] else { return };
        // What it finds is the host's own affair.
        migratory_sharing(a, b).expect("it may run there");
    }
}
