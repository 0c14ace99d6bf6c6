//! The comparison of two runs.
//!
//! It covers each benchmark and core count that both runs have. It gives the ratio of the medians,
//! with an interval by resampling. A rank test says whether the samples differ. The test is
//! corrected for the number of core counts on which the benchmark is compared, but not for the
//! number of benchmarks: each of them is a question of its own, and such a correction would ask for
//! more samples the more benchmarks there are. A significant but small difference does not count.
//! The host changes by some percent between two runs, and no number of samples within a run can
//! show that.

use kilocore_figures::{Provenance, median};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::document::{Document, Outcome, Point};
use crate::mann_whitney::{RankTest, corrected, rank_test};
use crate::{Interval, Kind, Noise};

/// The result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The second run has the higher rate.
    Faster,
    /// The second run has the lower rate.
    Slower,
    /// There are enough samples, and no difference in them that counts.
    NoDifferenceSeen,
    /// There are too few samples: even if all of one run were above all of the other, the test
    /// would not call it a difference.
    TooFewRepeats,
}

impl Verdict {
    /// Returns the result in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::NoDifferenceSeen => "no difference seen",
            Verdict::TooFewRepeats => "too few repeats",
        }
    }
}

/// A benchmark on one number of cores, in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The name of the benchmark.
    pub name: String,
    /// Whether its tasks are threads or processes.
    pub kind: Kind,
    /// The number of cores.
    pub cores: u32,
    /// The median rate of the first run, in operations per second.
    pub first_per_s: f64,
    /// The median rate of the second run, in operations per second.
    pub second_per_s: f64,
    /// The second median divided by the first.
    pub ratio: f64,
    /// The interval of the ratio, as far as the samples within two runs tell.
    pub ratio_interval: Interval,
    /// The probability of such a difference by chance, corrected for the number of comparisons of
    /// this benchmark.
    pub chance: f64,
    /// Which of the two sides is faster, if any surely is.
    pub verdict: Verdict,
    /// Whether one of the runs was unsteady here. The difference may then be due to what disturbed
    /// it.
    pub unsteady: bool,
}

/// All comparisons of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparisons {
    /// The kind of the document: `kilocore-bench-comparison`.
    pub schema: &'static str,
    /// The version of the format.
    pub version: u32,
    /// Where all its figures come from: `measured`.
    pub provenance: Provenance,
    /// The probability below which a difference counts.
    pub certain_below: f64,
    /// The smallest relative change that counts.
    pub least_change: f64,
    /// The benchmarks and core counts that both runs have.
    pub comparisons: Vec<Comparison>,
    /// What only the first run has: a benchmark, or a benchmark on a number of cores.
    pub only_in_first: Vec<String>,
    /// What only the second run has.
    pub only_in_second: Vec<String>,
    /// What differs between the hosts or the settings: its name, its value in the first run and its
    /// value in the second.
    pub circumstances: Vec<(String, String, String)>,
}

/// The probability below which a difference counts.
const CERTAIN_BELOW: f64 = 0.05;
/// How many resamples the interval of a ratio is made of.
const RESAMPLES: usize = 2000;
/// The share of the resamples that lies within the interval.
const INTERVAL: f64 = 0.95;

/// Compares a second run with a first one. Relative changes below `least_change` do not count.
#[must_use]
pub fn compare(first: &Document, second: &Document, least_change: f64) -> Comparisons {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(first.settings.seed);
    let both = measured(first).filter_map(|(outcome, point)| {
        let other = second.outcome(&outcome.name, outcome.kind)?;
        Some((outcome, point, measured_points(other).find(|p| p.cores == point.cores)?))
    });
    let rates =
        |point: &Point| -> Vec<f64> { point.samples.iter().map(|sample| sample.per_s).collect() };
    let tested = both.filter_map(|(outcome, first, second)| {
        let (first_rates, second_rates) = (rates(first), rates(second));
        let test = rank_test(&first_rates, &second_rates)?;
        Some(Tested { outcome, first, second, first_rates, second_rates, test })
    });
    let tested: Vec<Tested<'_>> = tested.collect();
    let families = tested.chunk_by(|a, b| std::ptr::eq(a.outcome, b.outcome));
    let comparisons = families.flat_map(|family| {
        let chances: Vec<f64> = family.iter().map(|tested| tested.test.p).collect();
        let of = family.len() as f64;
        let chances = corrected(&chances);
        let compared = family.iter().zip(chances);
        let random = &mut random;
        let compared = compared.map(|(tested, chance)| {
            let open = tested.test.least_p * of > CERTAIN_BELOW;
            tested.comparison(chance, open, least_change, random)
        });
        compared.collect::<Vec<_>>()
    });
    let comparisons = comparisons.collect();
    Comparisons {
        schema: "kilocore-bench-comparison",
        version: 1,
        provenance: Provenance::Measured,
        certain_below: CERTAIN_BELOW,
        least_change,
        comparisons,
        only_in_first: missing(first, second),
        only_in_second: missing(second, first),
        circumstances: circumstances(first, second),
    }
}

/// Compares what both runs have.
struct Tested<'a> {
    outcome: &'a Outcome,
    first: &'a Point,
    second: &'a Point,
    first_rates: Vec<f64>,
    second_rates: Vec<f64>,
    test: RankTest,
}

impl Tested<'_> {
    fn comparison(
        &self,
        chance: f64,
        open: bool,
        least_change: f64,
        random: &mut impl Rng,
    ) -> Comparison {
        let [first_per_s, second_per_s] = [&self.first_rates, &self.second_rates]
            .map(|rates| median(rates.iter().copied()).unwrap_or(f64::NAN));
        let ratio = second_per_s / first_per_s;
        Comparison {
            name: self.outcome.name.clone(),
            kind: self.outcome.kind,
            cores: self.first.cores,
            first_per_s,
            second_per_s,
            ratio,
            ratio_interval: ratio_interval(&self.first_rates, &self.second_rates, random),
            chance,
            verdict: verdict(ratio, chance, open, least_change),
            unsteady: [self.first, self.second].into_iter().any(is_unsteady),
        }
    }
}

fn verdict(ratio: f64, chance: f64, open: bool, least_change: f64) -> Verdict {
    match chance <= CERTAIN_BELOW {
        true if (ratio - 1.0).abs() < least_change => Verdict::NoDifferenceSeen,
        true if ratio > 1.0 => Verdict::Faster,
        true => Verdict::Slower,
        false if open => Verdict::TooFewRepeats,
        false => Verdict::NoDifferenceSeen,
    }
}

fn is_unsteady(point: &Point) -> bool {
    point.summary.is_some_and(|summary| summary.noise == Noise::Unsteady)
}

fn measured_points(outcome: &Outcome) -> impl Iterator<Item = &Point> {
    outcome.points.iter().filter(|point| !point.samples.is_empty())
}

fn measured(document: &Document) -> impl Iterator<Item = (&Outcome, &Point)> {
    let outcomes = document.benchmarks.iter();
    outcomes.flat_map(|outcome| measured_points(outcome).map(move |point| (outcome, point)))
}

/// Returns what `one` has and `other` does not have.
fn missing(from: &Document, of: &Document) -> Vec<String> {
    let ran = from.benchmarks.iter().filter(|outcome| outcome.has_run());
    let lacking = |outcome: &Outcome| {
        let name = format!("{} as {}", outcome.name, outcome.kind);
        let Some(other) = of.outcome(&outcome.name, outcome.kind).filter(|o| o.has_run()) else {
            return vec![name];
        };
        let there = |cores| measured_points(other).any(|point| point.cores == cores);
        let cores = measured_points(outcome).map(|point| point.cores);
        let lacking = cores.filter(|&cores| !there(cores));
        lacking.map(|cores| format!("{name} on {cores} cores")).collect()
    };
    ran.flat_map(lacking).collect()
}

/// Returns what differs between the hosts or the settings.
fn circumstances(first: &Document, second: &Document) -> Vec<(String, String, String)> {
    let rows = |document: &Document| {
        let settings = &document.settings;
        let mut rows = document.environment.in_rows();
        // This always differs, and its effect shows as noise.
        rows.retain(|(name, _)| *name != "load before");
        rows.push(("pin", settings.pin.to_string()));
        rows.push(("seconds", settings.seconds.to_string()));
        rows.push(("seconds of warm-up", settings.warm_up_seconds.to_string()));
        rows.push(("number of repeats", settings.repeats.to_string()));
        rows.into_iter().map(|(name, value)| (name.to_owned(), value))
    };
    let both =
        rows(first).zip(rows(second)).map(|((name, first), (_, second))| (name, first, second));
    let noted = first.benchmarks.iter().filter(|outcome| outcome.has_run()).filter_map(|outcome| {
        let other = second.outcome(&outcome.name, outcome.kind).filter(|o| o.has_run())?;
        let notes = |outcome: &Outcome| match &outcome.notes[..] {
            [] => "nothing noted".to_owned(),
            notes => notes.join(", "),
        };
        Some((format!("the note on {}", outcome.name), notes(outcome), notes(other)))
    });
    both.chain(noted).filter(|(_, first, second)| first != second).collect()
}

/// Returns the interval of the ratio of medians, by resampling both groups with replacement.
fn ratio_interval(first: &[f64], second: &[f64], random: &mut impl Rng) -> Interval {
    let mut draw = |from: &[f64]| {
        let one = |_| from[(random.next_u64() % from.len() as u64) as usize];
        median((0..from.len()).map(one)).unwrap_or(f64::NAN)
    };
    let ratios = kilocore_figures::ascending((0..RESAMPLES).map(|_| draw(second) / draw(first)));
    let left_out = (RESAMPLES as f64 * (1.0 - INTERVAL) / 2.0) as usize;
    let (low, high) = (ratios[left_out], ratios[RESAMPLES - 1 - left_out]);
    Interval { low, high, certainty: INTERVAL }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Generated, SCHEMA, Sample, Settings, VERSION};
    use crate::{Environment, Pin, benchmarks};

    /// Returns a document of `getppid` and `dup` with these rates on one core.
    fn document(rates: [&[f64]; 2]) -> Document {
        let outcome = |(name, rates): (&str, &[f64])| {
            let sample = |&per_s: &f64| Sample { per_s, ..Sample::default() };
            let samples = rates.iter().map(sample).collect();
            let points = vec![Point { cores: 1, summary: None, refused: None, samples }];
            let info = benchmarks::find(name).unwrap().info();
            Outcome::new(info, info.default, Vec::new(), points)
        };
        Document {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            provenance: "measured".to_owned(),
            generated: Generated { by: String::new(), command: String::new(), begun_unix_s: 0 },
            environment: Environment::default(),
            settings: Settings {
                cores: vec![1],
                pin: Pin::Core,
                repeats: 7,
                seconds: 0.1,
                warm_up_seconds: 0.1,
                seed: 1,
            },
            benchmarks: ["getppid", "dup"].into_iter().zip(rates).map(outcome).collect(),
        }
    }

    fn around(middle: f64, count: u32) -> Vec<f64> {
        (0..count).map(|i| middle * (0.99 + 0.02 * f64::from(i) / f64::from(count))).collect()
    }

    fn verdicts(first: [&[f64]; 2], second: [&[f64]; 2]) -> Vec<Verdict> {
        let found = compare(&document(first), &document(second), 0.03);
        found.comparisons.iter().map(|comparison| comparison.verdict).collect()
    }

    #[test]
    fn clear_differences_are_told_and_in_which_direction() {
        let (low, high) = (around(100.0, 7), around(120.0, 7));
        let found = verdicts([&low, &high], [&high, &low]);
        assert_eq!(found, [Verdict::Faster, Verdict::Slower]);
        let found = compare(&document([&low, &low]), &document([&high, &high]), 0.03);
        let ratio = found.comparisons[0].ratio_interval;
        assert!((1.15..1.2).contains(&ratio.low) && (1.2..1.25).contains(&ratio.high), "{ratio:?}");
    }

    #[test]
    fn small_differences_do_not_count_and_few_samples_leave_it_open() {
        let (low, bit_higher) = (around(100.0, 40), around(101.5, 40));
        assert_eq!(verdicts([&low, &low], [&bit_higher, &low]), [Verdict::NoDifferenceSeen; 2]);
        let (low, high) = (around(100.0, 3), around(200.0, 3));
        assert_eq!(verdicts([&low, &low], [&high, &low]), [Verdict::TooFewRepeats; 2]);
    }

    #[test]
    fn a_few_samples_settle_many_benchmarks_on_some_core_counts() {
        let all = |middle: f64| {
            let mut document = document([&[], &[]]);
            let outcome = |benchmark: &dyn crate::Benchmark| {
                let point = |cores| {
                    let sample = |per_s| Sample { per_s, ..Sample::default() };
                    let samples = around(middle, 5).into_iter().map(sample).collect();
                    Point { cores, summary: None, refused: None, samples }
                };
                let (info, points) = (benchmark.info(), [1, 32, 64].map(point).to_vec());
                Outcome::new(info, info.default, Vec::new(), points)
            };
            document.benchmarks = benchmarks::shown().map(outcome).collect();
            document
        };
        let found = compare(&all(100.0), &all(110.0), 0.03).comparisons;
        assert_eq!(found.len(), 3 * benchmarks::shown().count());
        assert!(found.iter().all(|comparison| comparison.verdict == Verdict::Faster));
    }

    #[test]
    fn settings_and_notes_that_differ_are_told() {
        let samples = around(100.0, 7);
        let first = document([&samples, &samples]);
        let mut second = first.clone();
        second.settings.warm_up_seconds = 0.2;
        second.settings.repeats = 9;
        second.benchmarks[1].notes = vec!["scratch files in /x".to_owned()];
        let told = compare(&first, &second, 0.03).circumstances;
        let words = |(what, first, second): &(String, String, String)| {
            [what, first, second].map(String::as_str).join(": ")
        };
        assert_eq!(
            told.iter().map(words).collect::<Vec<_>>(),
            [
                "seconds of warm-up: 0.1: 0.2",
                "number of repeats: 7: 9",
                "the note on dup: nothing noted: scratch files in /x",
            ]
        );
    }

    #[test]
    fn what_one_run_lacks_is_named() {
        let samples = around(100.0, 7);
        let found = compare(&document([&samples, &[]]), &document([&samples, &samples]), 0.03);
        assert_eq!(found.comparisons.len(), 1);
        assert_eq!(found.only_in_second, ["dup as processes"]);
        assert!(found.only_in_first.is_empty() && found.circumstances.is_empty());
    }
}
