//! Rounds in which everything is measured once, so that a host that slows down slows all of it.

use std::sync::Barrier;
use std::time::Instant;

/// Figures of one subject, a round each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Figures(pub(crate) Vec<f64>);

impl Figures {
    /// Returns the median, and the two values that a quarter is below and above.
    pub(crate) fn quartiles(&self) -> [f64; 3] {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        [at(0.25), at(0.5), at(0.75)]
    }

    /// Returns these figures over those of the same rounds.
    pub(crate) fn over(&self, others: &Self) -> Self {
        Self(self.0.iter().zip(&others.0).map(|(one, other)| one / other).collect())
    }
}

/// Lets so many threads call `work` at the same time, each with its number, and returns the nanoseconds from
/// the first's beginning to the last's end, for each of `operations`, which is how many each thread does.
pub(crate) fn timed(threads: u64, operations: u64, work: &(dyn Fn(u64) + Sync)) -> f64 {
    let ready = Barrier::new(threads as usize);
    let spans = std::thread::scope(|scope| {
        let ready = &ready;
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                scope.spawn(move || {
                    ready.wait();
                    let start = Instant::now();
                    work(thread);
                    (start, Instant::now())
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().expect("no panic")).collect::<Vec<_>>()
    });
    let start = spans.iter().map(|(start, _)| *start).min().expect("there is a thread");
    let end = spans.iter().map(|(_, end)| *end).max().expect("there is a thread");
    (end - start).as_nanos() as f64 / operations as f64
}

/// Numbers that differ from each other in no pattern: Marsaglia's xorshift.
pub(crate) struct Scattered(pub(crate) u64);

impl Scattered {
    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
