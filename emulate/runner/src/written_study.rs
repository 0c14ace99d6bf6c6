//! What a study says that was written as a document: its times, by locks and cores.

use kilocore_emulation_orders::{Span, ThreadTimes};
use kilocore_show::{Mark, Provenance, Table, number};
use serde::Deserialize;

use crate::Variant;
use crate::row::{AFTER_TIME, shares};

/// A study as its document has it, without what is known of functions, cache lines and waits.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct WrittenStudy {
    command: String,
    machine: String,
    from: Option<String>,
    until: Option<String>,
    /// Those of before had none.
    #[serde(default)]
    answer: Vec<String>,
    points: Vec<WrittenPoint>,
}

/// A program under some locks on a number of cores.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct WrittenPoint {
    locks: String,
    cores: u32,
    speedup: f64,
    parallel_speedup: Option<f64>,
    gain: f64,
    end_ns: f64,
    parallel: Option<Span>,
    threads: Vec<ThreadTimes>,
}

impl WrittenStudy {
    /// What it says, in paragraphs: the answer first.
    #[must_use]
    pub fn answer(&self) -> &[String] {
        &self.answer
    }

    /// A table for each choice of locks.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let mut tables: Vec<Table> =
            self.points.chunk_by(|a, b| a.locks == b.locks).map(|same| self.table(same)).collect();
        if let Some(last) = tables.last_mut() {
            last.below.push(
                "The file also has functions, cache lines and waits; --json prints them."
                    .to_owned(),
            );
        }
        tables
    }

    fn table(&self, same: &[WrittenPoint]) -> Table {
        let locks = same.first().map_or(Variant::OWN, |point| &point.locks);
        let is_own = locks == Variant::OWN;
        let under = if is_own { String::new() } else { format!(" under {locks}") };
        let said = |word, place: &Option<String>| {
            place.as_ref().map_or_else(String::new, |place| format!(" {word} {place}"))
        };
        let part = said("from", &self.from) + &said("until", &self.until);
        let gain = (!is_own).then_some("gain");
        Table {
            name: format!("scaling-{}", locks.replace(", ", "-")),
            title: format!("`{}`{part}{under} on {}", self.command, self.machine),
            mark: Some(Mark::new(Provenance::Emulated, "")),
            front: "cores",
            headings: ["time"].into_iter().chain(gain).chain(AFTER_TIME).collect(),
            rows: same.iter().map(|point| point.row(!is_own)).collect(),
            below: Vec::new(),
        }
    }
}

impl WrittenPoint {
    fn row(&self, has_gain: bool) -> (String, Vec<String>) {
        let alone = self.end_ns - self.parallel.map_or(0.0, Span::ns);
        let parallel = self.parallel_speedup;
        let mut figures = vec![number::nanoseconds(self.end_ns)];
        figures.extend(has_gain.then(|| number::multiple(self.gain)));
        figures.extend([
            number::multiple(self.speedup),
            number::nanoseconds(alone),
            parallel.map_or_else(|| number::NONE.to_owned(), number::multiple),
        ]);
        let shares = shares(self.cores, self.end_ns, &self.threads);
        figures.extend(shares.map(number::percent));
        (self.cores.to_string(), figures)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Figures as somebody may have written them.
    fn figure() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), -1e300..1e300_f64, 0.0..1e6_f64, Just(1e-300)]
    }

    proptest! {
        #[test]
        fn any_figures_are_shown(
            (cores, speedup, gain) in (any::<u32>(), figure(), figure()),
            (start_ns, end_ns, working_ns) in (figure(), figure(), figure()),
            has_threads in any::<bool>(),
        ) {
            let zero = ThreadTimes::default();
            let point = WrittenPoint {
                locks: "mcs".to_owned(),
                cores,
                speedup,
                parallel_speedup: has_threads.then_some(speedup),
                gain,
                end_ns,
                parallel: has_threads.then_some(Span { start_ns, end_ns }),
                threads: vec![ThreadTimes { working_ns, ..zero }; usize::from(has_threads)],
            };
            let study = WrittenStudy {
                command: "x".to_owned(),
                machine: "m".to_owned(),
                from: None,
                until: None,
                answer: Vec::new(),
                points: vec![point.clone(), point],
            };
            for table in study.tables() {
                prop_assert!(table.plain(80_u16).lines().count() > 3, "{table:?}");
            }
        }
    }
}
