//! Estimates how much of a difference may be chance.
//!
//! Two things make the time per unit of work differ between two runs of the same program on the
//! same cores: the choice of instants at which the sampler looked, and the varying speed of the
//! machine.
//!
//! The first is known from the sample counts: the sum of the squares of the weights is the variance
//! of their sum. The second shows only in repeated runs, and is taken as one relative deviation for
//! all functions. A few runs are a poor estimate of it, so the estimate is moderated, as is usual
//! where many quantities are measured a few times (Smyth 2004, 'Linear models and empirical Bayes
//! methods'). It is averaged with an assumption that holds for any machine and counts as much as a
//! few runs. The intervals are Student's. If runs differ more than assumed, the assumption counts
//! less, because it would understate the noise of a busy host.
//!
//! Because many functions are tested, some would be 'significant' by chance. The marks therefore
//! follow Holm's step-down procedure, which keeps the chance of any false mark in a list of
//! functions below five percent. The lists are not corrected for each other. With two single runs,
//! which is what many people have, such a correction would leave no mark even on a function that
//! takes a third longer.

use std::collections::BTreeMap;

use kilocore_sampled_profile::Tally;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

use crate::{Amounts, Works};

/// How much runs of the same program differ, beyond sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunNoise {
    /// The relative standard deviation of the time per unit of work from run to run.
    pub relative: f64,
    /// How well that is known, in degrees of freedom. It is infinite if the user said it.
    pub freedom: f64,
    /// How it is known.
    pub source: NoiseSource,
}

/// How the noise between runs is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseSource {
    /// It is estimated from this many degrees of freedom: the runs of both sides beyond the first.
    Measured(usize),
    /// The user said so.
    Given,
    /// It is assumed, because there is only one run of each side.
    Assumed,
}

/// The relative deviation that is assumed of an unknown machine. Shared hosts and hosts with varying
/// clock rates vary more, and quiet ones less.
pub const ASSUMED_RUN_NOISE: f64 = 0.05;

/// The number of degrees of freedom for which the assumption counts.
const ASSUMED_FREEDOM: f64 = 4.0;

/// The chance that some function of a list is marked although nothing differs.
const FAMILY_WISE: f64 = 0.05;

/// A function needs at least this many samples on both sides together to say anything.
const FEWEST_SAMPLES: u64 = 5;

/// A run, as far as the noise is estimated from it: what fell on each function per unit of work,
/// and the variance that sampling alone causes.
#[derive(Debug, Clone)]
pub(crate) struct RunTimes(Vec<(f64, f64)>);

impl RunTimes {
    pub(crate) fn new(by_function: &[Tally], work: f64) -> Self {
        let per_unit =
            |tally: &Tally| (tally.weight as f64 / work, tally.squares as f64 / (work * work));
        Self(by_function.iter().map(per_unit).collect())
    }

    /// First everything, then each function.
    fn rows(&self, functions: usize) -> impl Iterator<Item = (f64, f64)> {
        let total = self.0.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        let rest = (0..functions).map(|f| self.0.get(f).copied().unwrap_or_default());
        std::iter::once(total).chain(rest)
    }
}

impl RunNoise {
    /// Returns the noise between runs that the user has stated.
    pub(crate) fn given(relative: f64) -> Self {
        Self { relative, freedom: f64::INFINITY, source: NoiseSource::Given }
    }

    /// Returns the noise between runs, as far as the runs of each side show it.
    pub(crate) fn seen(sides: [&[RunTimes]; 2]) -> Self {
        let freedom: usize = sides.iter().map(|runs| runs.len().saturating_sub(1)).sum();
        let (assumed, shown) = (ASSUMED_RUN_NOISE.powi(2), Self::shown(sides));
        // If runs differ more than was assumed, as on a host that others use, the assumption is
        // wrong here.
        let assumption = ASSUMED_FREEDOM * (assumed / shown).min(1.0);
        let all = assumption + freedom as f64;
        let variance = (assumed * assumption + shown * freedom as f64) / all;
        let source =
            if freedom == 0 { NoiseSource::Assumed } else { NoiseSource::Measured(freedom) };
        Self { relative: variance.sqrt(), freedom: all, source }
    }

    /// Returns the relative variance that the runs of each side show beyond sampling.
    fn shown(sides: [&[RunTimes]; 2]) -> f64 {
        let all = sides.iter().flat_map(|runs| runs.iter());
        let functions = all.map(|run| run.0.len()).max().unwrap_or(0);
        // The excess variances and the squared means of everything and of all functions are pooled.
        let (mut whole, mut pooled) = ([0.0; 2], [0.0; 2]);
        for runs in sides.iter().filter(|runs| runs.len() > 1) {
            let rows: Vec<Vec<(f64, f64)>> =
                runs.iter().map(|run| run.rows(functions).collect()).collect();
            for row in 0..=functions {
                let column: Vec<(f64, f64)> = rows.iter().map(|run| run[row]).collect();
                let into = if row == 0 { &mut whole } else { &mut pooled };
                let [excess, square] = excess(&column);
                into[0] += excess;
                into[1] += square;
            }
        }
        let relative = |[excess, squares]: [f64; 2]| {
            if squares > 0.0 { (excess / squares).max(0.0) } else { 0.0 }
        };
        relative(whole).max(relative(pooled))
    }
}

/// Returns the variance of values beyond what sampling explains, and the square of their mean. Both
/// are weighted by the degrees of freedom.
fn excess(values: &[(f64, f64)]) -> [f64; 2] {
    let runs = values.len() as f64;
    let mean = values.iter().map(|value| value.0).sum::<f64>() / runs;
    let squares: f64 = values.iter().map(|value| (value.0 - mean).powi(2)).sum();
    let sampling = values.iter().map(|value| value.1).sum::<f64>() / runs;
    [squares - sampling * (runs - 1.0), mean * mean * (runs - 1.0)]
}

/// How far a loss may be off, and whether it stands out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uncertainty {
    /// Half the width of the 95 % interval around the loss, in the profile's unit per unit of work.
    pub margin: f64,
    /// Whether the loss stands out from noise. The module's documentation says how that is tested.
    pub above_noise: bool,
}

/// What makes losses uncertain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noise {
    pub(crate) works: Works,
    pub(crate) between_runs: RunNoise,
    /// The number of runs of each side.
    pub(crate) runs: [usize; 2],
    /// How much a sample of each side stands for on average.
    pub(crate) a_sample: [f64; 2],
}

impl Noise {
    /// Returns the standard deviation of a loss per unit of work, and how well it is known, in
    /// degrees of freedom.
    fn deviation(&self, amounts: Amounts) -> (f64, f64) {
        let variances = |side: usize, tally: Tally, work: f64| {
            // That there is no sample does not mean that there is no time: one might have been
            // taken.
            let sampling = (tally.squares as f64).max(self.a_sample[side].powi(2));
            let between = self.between_runs.relative * tally.weight as f64;
            let between = between.powi(2) / self.runs[side] as f64;
            (sampling / (work * work), between / (work * work))
        };
        let base = variances(0, amounts.base, self.works.base.as_f64());
        let scaled = variances(1, amounts.scaled, self.works.scaled.as_f64());
        let (sampling, between) = (base.0 + scaled.0, base.1 + scaled.1);
        // Only the second part of the sum is uncertain (Welch and Satterthwaite).
        let all = sampling + between;
        (all.sqrt(), self.between_runs.freedom * (all / between).powi(2))
    }

    /// Returns the chance that samples which fall on both sides alike divide as unevenly as these.
    /// This is the binomial test, because the normal distribution overrates a small number of
    /// samples.
    fn of_counts(&self, amounts: Amounts) -> f64 {
        let expected = |side: usize, work: f64| work / self.a_sample[side];
        let base = expected(0, self.works.base.as_f64());
        let to_base = base / (base + expected(1, self.works.scaled.as_f64()));
        let (base, all) = (amounts.base.samples, amounts.base.samples + amounts.scaled.samples);
        let Ok(distribution) = Binomial::new(to_base, all) else { return 1.0 };
        let below = distribution.cdf(base);
        let above = if base == 0 { 1.0 } else { distribution.sf(base - 1) };
        (2.0 * below.min(above)).min(1.0)
    }

    /// Returns the uncertainty of each of several losses that are tested together.
    pub(crate) fn of_all(&self, all: &[Amounts]) -> Vec<Uncertainty> {
        let chances: Vec<Option<f64>> = all.iter().map(|amounts| self.chance(*amounts)).collect();
        let marks = holm(&chances);
        let mut quantiles = Quantiles::default();
        all.iter()
            .zip(marks)
            .map(|(amounts, above_noise)| {
                let (deviation, freedom) = self.deviation(*amounts);
                Uncertainty { margin: quantiles.of(freedom) * deviation, above_noise }
            })
            .collect()
    }

    /// Returns the chance of a loss this large where there is none, or `None` for very few samples.
    fn chance(&self, amounts: Amounts) -> Option<f64> {
        let samples = amounts.base.samples + amounts.scaled.samples;
        let (deviation, freedom) = self.deviation(amounts);
        if samples < FEWEST_SAMPLES || deviation == 0.0 {
            return None;
        }
        let loss = amounts.times().loss(self.works).per_unit(self.works);
        let chance = 2.0 * student(freedom)?.sf(loss.abs() / deviation);
        Some(chance.max(self.of_counts(amounts)))
    }
}

/// The quantiles of Student's distribution for intervals of 95 %. They take long to find, and they
/// hardly depend on the freedom if that is large. So one quantile serves a few percent of freedom,
/// from its lower end on.
#[derive(Debug, Default)]
struct Quantiles(BTreeMap<i32, f64>);

impl Quantiles {
    /// How many quantiles there are between some freedom and e times as much.
    const STEPS: f64 = 64.0;

    fn of(&mut self, freedom: f64) -> f64 {
        let step = (freedom.clamp(0.1, NORMAL).ln() * Self::STEPS).floor();
        *self.0.entry(step as i32).or_insert_with(|| {
            student((step / Self::STEPS).exp()).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
        })
    }
}

/// With this much freedom, Student's distribution is taken for the normal one.
const NORMAL: f64 = 1e6;

/// Returns Student's t-distribution with so many degrees of freedom, or `None` if that is no
/// positive number.
fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, if freedom < NORMAL { freedom } else { NORMAL }).ok()
}

/// Returns which of several chances are small, considering that there are several.
fn holm(chances: &[Option<f64>]) -> Vec<bool> {
    let mut tested: Vec<(f64, usize)> = chances
        .iter()
        .enumerate()
        .filter_map(|(index, chance)| chance.map(|chance| (chance, index)))
        .collect();
    tested.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut marks = vec![false; chances.len()];
    let count = tested.len();
    for (rank, (chance, index)) in tested.into_iter().enumerate() {
        if chance > FAMILY_WISE / (count - rank) as f64 {
            break;
        }
        marks[index] = true;
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_are_looked_at_the_smaller_a_chance_must_be() {
        assert_eq!(holm(&[Some(0.04)]), [true]);
        assert_eq!(holm(&[Some(0.04), Some(0.9)]), [false, false]);
        assert_eq!(holm(&[Some(0.04), None]), [true, false]);
        assert_eq!(holm(&[Some(0.04), Some(0.01)]), [true, true]);
        assert_eq!(holm(&[Some(0.03), Some(0.026), Some(0.001)]), [false, false, true]);
    }

    fn runs(times: &[&[u64]]) -> Vec<RunTimes> {
        let run = |times: &&[u64]| {
            // There are so many samples that sampling adds no noise.
            let tallies: Vec<Tally> = times.iter().map(|&t| Tally::of(1 << 40, t)).collect();
            RunTimes::new(&tallies, 1.0)
        };
        times.iter().map(run).collect()
    }

    #[test]
    fn what_runs_show_is_averaged_with_what_is_assumed() {
        let even = runs(&[&[1000, 2000], &[1000, 2000]]);
        let noise = RunNoise::seen([&even, &even]);
        assert_eq!(noise.source, NoiseSource::Measured(2));
        assert_eq!(noise.freedom, 6.0);
        assert!((noise.relative - ASSUMED_RUN_NOISE * (4.0_f64 / 6.0).sqrt()).abs() < 1e-12);
        // A deviation of 4 percent, with one degree of freedom.
        let uneven = runs(&[&[1000, 2000], &[1060, 2120]]);
        let noise = RunNoise::seen([&uneven, &[]]);
        let shown = (0.06 / 1.03_f64).powi(2) / 2.0;
        let expected = ((4.0 * ASSUMED_RUN_NOISE.powi(2) + shown) / 5.0).sqrt();
        assert!((noise.relative - expected).abs() < 1e-9, "{noise:?}");
        // Nine percent: a variance more than three times what is assumed.
        let bad = runs(&[&[1000, 2000], &[1136, 2272]]);
        let noise = RunNoise::seen([&bad, &[]]);
        let shown = (0.136 / 1.068_f64).powi(2) / 2.0;
        let counts = 4.0 * ASSUMED_RUN_NOISE.powi(2) / shown;
        let expected = (counts * ASSUMED_RUN_NOISE.powi(2) + shown) / (counts + 1.0);
        assert!(counts < 4.0 / 3.0 && (noise.freedom - 1.0 - counts).abs() < 1e-9, "{noise:?}");
        assert!((noise.relative - expected.sqrt()).abs() < 1e-9, "{noise:?}");
        let single = RunNoise::seen([&even[..1], &even[..1]]);
        assert_eq!((single.relative, single.freedom), (ASSUMED_RUN_NOISE, ASSUMED_FREEDOM));
        assert_eq!(single.source, NoiseSource::Assumed);
    }

    /// Where the noise of sampling is all there is, intervals are those of the normal distribution;
    /// where that between runs is, they are Student's with its freedom.
    #[test]
    fn intervals_are_as_wide_as_the_noise_is_unknown() {
        let noise = |relative| Noise {
            works: Works { base: crate::Work::one(), scaled: crate::Work::one() },
            between_runs: RunNoise { relative, freedom: 4.0, source: NoiseSource::Assumed },
            runs: [1, 1],
            a_sample: [1.0, 1.0],
        };
        let amounts = Amounts { base: Tally::of(800, 800), scaled: Tally::of(800, 800) };
        let width = |relative| {
            let noise = noise(relative);
            noise.of_all(&[amounts])[0].margin / noise.deviation(amounts).0
        };
        assert!((width(1e-9) - 1.96).abs() < 0.001);
        assert!((width(1e3) - 2.776).abs() < 0.02);
    }
}
