//! Two runs held against each other.
//!
//! For each benchmark and number of cores that both have: the ratio of the medians with an interval
//! by resampling, and whether the samples differ, by the rank test, corrected for how many numbers of
//! cores the benchmark is compared on. Each benchmark is a question of its own: a correction for all
//! of them together would ask for more samples the more benchmarks there are. A difference that is
//! sure but small is not called one: between two runs the host changes by some percent that no
//! number of samples within a run can show.

use kilocore_curve::median;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::document::{Document, Outcome, Point};
use crate::mann_whitney::{RankTest, corrected, rank_test};
use crate::{Interval, Kind, Noise, statistics};

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The second run has the higher rate.
    Faster,
    /// It has the lower.
    Slower,
    /// Samples enough, and no difference in them that counts.
    NoDifferenceSeen,
    /// Even samples that are all on one side would leave it open.
    TooFewRepeats,
}

impl Verdict {
    /// In words.
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

/// A benchmark on a number of cores, in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The benchmark.
    pub name: String,
    /// The kind of its tasks.
    pub kind: Kind,
    /// The cores.
    pub cores: u32,
    /// Median rate of the first run, in operations per second.
    pub first_per_s: f64,
    /// The same of the second.
    pub second_per_s: f64,
    /// The second over the first.
    pub ratio: f64,
    /// Where the true ratio lies, as far as samples within two runs tell.
    pub ratio_interval: Interval,
    /// The chance of such a difference by accident, corrected for the number of comparisons of this
    /// benchmark.
    pub chance: f64,
    /// What it comes to.
    pub verdict: Verdict,
    /// Whether either run was unsteady there: then what disturbed it may be the difference.
    pub unsteady: bool,
}

/// All comparisons of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparisons {
    /// `kilocore-bench-comparison`.
    pub schema: &'static str,
    /// The version of the format.
    pub version: u32,
    /// `measured`, of all figures in it.
    pub provenance: &'static str,
    /// The chance below which a difference is taken for one.
    pub certain_below: f64,
    /// The least relative change that counts.
    pub least_change: f64,
    /// What both have.
    pub comparisons: Vec<Comparison>,
    /// What only the first has: a benchmark, or one on a number of cores.
    pub only_in_first: Vec<String>,
    /// What only the second has.
    pub only_in_second: Vec<String>,
    /// What differs between the hosts or the settings: what, there, and here.
    pub circumstances: Vec<(String, String, String)>,
}

/// The chance below which a difference is taken for one.
const CERTAIN_BELOW: f64 = 0.05;
/// Samples drawn anew for the interval of a ratio.
const RESAMPLES: usize = 2000;
/// Of the samples drawn anew, the share that the interval holds.
const INTERVAL: f64 = 0.95;

/// Holds a second run against a first. Relative changes below `least_change` do not count.
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
        provenance: "measured",
        certain_below: CERTAIN_BELOW,
        least_change,
        comparisons,
        only_in_first: missing(first, second),
        only_in_second: missing(second, first),
        circumstances: circumstances(first, second),
    }
}

/// What both runs have, and what the test says of it.
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

/// What one document has and the other has not.
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

/// What differs between the hosts or the settings.
fn circumstances(first: &Document, second: &Document) -> Vec<(String, String, String)> {
    let rows = |document: &Document| {
        let settings = &document.settings;
        let mut rows = document.environment.in_rows();
        // It never is the same; what it does shows as noise.
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

/// The interval of the ratio of medians, by drawing both groups anew from themselves.
fn ratio_interval(first: &[f64], second: &[f64], random: &mut impl Rng) -> Interval {
    let mut draw = |from: &[f64]| {
        let one = |_| from[(random.next_u64() % from.len() as u64) as usize];
        median((0..from.len()).map(one)).unwrap_or(f64::NAN)
    };
    let ratios = statistics::sorted((0..RESAMPLES).map(|_| draw(second) / draw(first)));
    let left_out = (RESAMPLES as f64 * (1.0 - INTERVAL) / 2.0) as usize;
    let (low, high) = (ratios[left_out], ratios[RESAMPLES - 1 - left_out]);
    Interval { low, high, certainty: INTERVAL }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Generated, SCHEMA, Sample, Settings, VERSION};
    use crate::{Environment, Pin, benchmarks};

    /// A document of `getppid` and `dup` with these rates on one core.
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
