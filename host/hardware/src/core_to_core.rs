//! Core-to-core latency: two pinned threads hand one cache line to and fro.
//!
//! Each thread waits for its turn by compare-and-swap, and the same exchange gives the turn away.
//! The public tables of core-to-core latencies are measured in this way, so a host's figure can be
//! compared with theirs. The one-way latency is half of a round trip. It is about the time from a
//! request for a modified line until the data has arrived.

use kilocore_figures::lower_median;

use crate::MeasureError;
use crate::pinned::{Pinned, allowed};
use crate::sysfs::{self, Processor};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Round trips in a sample. They take long in comparison with reading the clock, and a short time
/// in comparison with a time slice.
const TRIPS: u32 = 500;

/// A cache line of its own for the word that is handed to and fro. It has 128 bytes because some
/// processors fetch lines in pairs.
#[repr(align(128))]
struct Line(AtomicU32);

const MINE: u32 = 0;
const YOURS: u32 = 1;
const OVER: u32 = 2;

/// Returns the one-way latency between two processors in ns, the median of some samples.
///
/// Takes about 20 ms, and at most a quarter of a second on a busy host.
///
/// # Errors
/// [`MeasureError::Pin`] if the process may not run on one of them, and [`MeasureError::Busy`]
/// if not one sample came through in the time allowed.
pub fn core_to_core_ns(a: u32, b: u32) -> Result<f64, MeasureError> {
    samples(a, b, Duration::from_millis(20), Duration::from_millis(250))
}

/// Returns the one-way latency within this host in ns: the median over pairs of allowed processors
/// that are not hardware threads of one core. This takes less than 0.3 s.
///
/// Returns `None` if there is no such pair, or if the host is too busy.
#[must_use]
pub fn host_core_to_core() -> Option<f64> {
    const TIME: Duration = Duration::from_millis(100);
    const LIMIT: Duration = Duration::from_millis(240);
    let allowed = allowed();
    let shape = sysfs::shape(Path::new(crate::SYSTEM)).ok();
    let core_of = |cpu: u32| -> u32 {
        let found = shape.iter().flat_map(|shape| &shape.processors).find(|p| p.cpu == cpu);
        found.map_or(cpu, |p: &Processor| p.core)
    };
    let pairs: Vec<(u32, u32)> = allowed
        .iter()
        .enumerate()
        .flat_map(|(i, &a)| allowed[i + 1..].iter().map(move |&b| (a, b)))
        .filter(|&(a, b)| core_of(a) != core_of(b))
        .collect();
    let chosen = spread(&pairs, 8);
    let pairs = u32::try_from(chosen.len().max(1)).unwrap_or(1);
    let measured = chosen.into_iter().map(|(a, b)| samples(a, b, TIME / pairs, LIMIT / pairs));
    lower_median(measured.filter_map(Result::ok))
}

/// Returns at most `most` of the items, spread evenly over all of them.
pub(crate) fn spread<T: Copy>(items: &[T], most: usize) -> Vec<T> {
    let count = items.len().min(most);
    (0..count).map(|i| items[i * items.len() / count]).collect()
}

/// Exchanges for about `time`, and no longer than `limit`, the start of the partner included.
pub(crate) fn samples(
    a: u32,
    b: u32,
    time: Duration,
    limit: Duration,
) -> Result<f64, MeasureError> {
    let deadline = Deadline { at: Instant::now() + limit, looks: 0 };
    if a == b {
        return Err(MeasureError::Busy { a, b });
    }
    let line = Line(AtomicU32::new(YOURS));
    let turns = std::thread::scope(|scope| {
        let partner = scope.spawn(|| {
            let pinned = Pinned::to(b);
            if pinned.is_err() {
                line.0.store(OVER, Ordering::Release);
            }
            answer(&line);
            pinned.map(drop)
        });
        let pinned = Pinned::to(a);
        let taken = if pinned.is_ok() { call(&line, time, deadline) } else { Vec::new() };
        line.0.store(OVER, Ordering::Release);
        let answered = partner.join().unwrap_or(Err(MeasureError::Busy { a, b }));
        pinned?;
        answered?;
        Ok::<_, MeasureError>(taken)
    })?;
    lower_median(turns).ok_or(MeasureError::Busy { a, b })
}

/// The partner: gives each turn back until the exchange is over.
fn answer(line: &Line) {
    loop {
        match line.0.compare_exchange(YOURS, MINE, Ordering::AcqRel, Ordering::Acquire) {
            Err(OVER) => return,
            _ => std::hint::spin_loop(),
        }
    }
}

/// Takes turns; returns the one-way time in ns of each sample.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a fraction of a second")]
fn call(line: &Line, time: Duration, mut deadline: Deadline) -> Vec<f64> {
    // The first turn waits for the partner to start, so it is not part of a sample.
    if !take_turn(line, &mut deadline) {
        return Vec::new();
    }
    let begin = Instant::now();
    let mut samples = Vec::new();
    while begin.elapsed() < time || samples.len() < 3 {
        let start = Instant::now();
        for _ in 0..TRIPS {
            if !take_turn(line, &mut deadline) {
                return samples;
            }
        }
        samples.push(start.elapsed().as_nanos() as f64 / f64::from(TRIPS) / 2.0);
    }
    samples
}

/// A time after which nothing is waited for. The clock is read only now and then.
struct Deadline {
    at: Instant,
    looks: u32,
}

impl Deadline {
    fn is_over(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        self.looks.is_multiple_of(4096) && Instant::now() > self.at
    }
}

/// Waits for its turn and gives it away. Returns false if the deadline passed or the partner gave
/// up.
fn take_turn(line: &Line, deadline: &mut Deadline) -> bool {
    loop {
        match line.0.compare_exchange(MINE, YOURS, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(OVER) => return false,
            Err(_) if deadline.is_over() => return false,
            Err(_) => std::hint::spin_loop(),
        }
    }
}
