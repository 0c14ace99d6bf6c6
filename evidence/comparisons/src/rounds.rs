//! Rounds in which everything is measured once, so that a host that slows down slows all of it.

use std::sync::Barrier;
use std::time::Instant;

use kilocore_show::Table;

/// Figures of one subject, a round each.
#[derive(Debug, Clone, Default)]
pub struct Figures(pub Vec<f64>);

impl Figures {
    /// Returns the value that a quarter is below, the median, and the one that a quarter is above.
    ///
    /// # Panics
    /// If there are no figures.
    #[must_use]
    pub fn quartiles(&self) -> [f64; 3] {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
        [at(0.25), at(0.5), at(0.75)]
    }

    /// Returns these figures over those of the same rounds.
    #[must_use]
    pub fn over(&self, others: &Self) -> Self {
        Self(self.0.iter().zip(&others.0).map(|(one, other)| one / other).collect())
    }
}

/// Lets so many threads call `work` at the same time, each with its number, and returns the nanoseconds from
/// the first's beginning to the last's end, for each of `operations`, which is how many each thread does.
pub fn timed(threads: u64, operations: u64, work: &(dyn Fn(u64) + Sync)) -> f64 {
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

/// Measures subjects in turn, in so many rounds. `measure` gets the number of a subject and that of the round.
#[must_use]
pub fn in_turn(
    subjects: usize,
    rounds: usize,
    mut measure: impl FnMut(usize, usize) -> f64,
) -> Vec<Figures> {
    let mut figures = vec![Figures::default(); subjects];
    for round in 0..rounds {
        for (subject, figures) in figures.iter_mut().enumerate() {
            figures.0.push(measure(subject, round));
        }
    }
    figures
}

/// Returns a table of subjects: medians, quartiles, and medians of the ratios to the first subject's figures of
/// the same round, which `ratio` names.
#[must_use]
pub fn table(names: &[&str], figures: &[Figures], ratio: &str) -> String {
    let row = |(name, own): (&&str, &Figures)| {
        let [low, median, high] = own.quartiles();
        let [_, ratio, _] = own.over(&figures[0]).quartiles();
        let cells =
            vec![format!("{median:.1}"), format!("{low:.1} to {high:.1}"), format!("{ratio:.2}")];
        ((*name).to_owned(), cells)
    };
    let table = Table {
        headings: ["median", "quartiles", ratio].into(),
        rows: names.iter().zip(figures).map(row).collect(),
        ..Table::default()
    };
    table.markdown()
}

/// Numbers that differ from each other in no pattern: Marsaglia's xorshift.
#[derive(Debug, Clone, Copy)]
pub struct Scattered(pub u64);

impl Scattered {
    /// Returns the next number. The first must not be zero.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
