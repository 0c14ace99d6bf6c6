//! One recorded run, and the conversion of several runs to one unit.

use kilocore_sampled_profile::{Format, Rate, SampledProfile, Tally, Unit};

use crate::{CompareError, Work};

/// A profile and the facts about its run. A fact may be absent; it is then assumed, and a warning
/// says so.
#[derive(Debug, Clone)]
pub struct Run {
    /// What to call it in messages: the file's name.
    pub name: String,
    /// The profile.
    pub profile: SampledProfile,
    /// How many cores the program had.
    pub cores: Option<u32>,
    /// How much work it did.
    pub work: Option<Work>,
    /// How long it took by the wall clock, in nanoseconds.
    pub elapsed_ns: Option<u64>,
    /// How many samples were taken in a second of processor time, where the profile counts
    /// samples.
    pub frequency: Option<f64>,
}

/// What the figures of a comparison are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds of processor time.
    Nanoseconds,
    /// Samples. What each stands for is unknown.
    Samples,
    /// Events of this kind.
    Events(String),
}

impl Measure {
    /// What it is called behind a figure.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Samples => "samples",
            Self::Events(name) => name,
        }
    }
}

impl Run {
    /// How often this run was sampled in a second, if it is known.
    pub(crate) fn hertz(&self) -> Option<f64> {
        let of_profile = match self.profile.facts.rate {
            Some(Rate::Hertz(hertz)) => Some(hertz),
            _ => None,
        };
        self.frequency.or(of_profile).filter(|hertz| hertz.is_finite() && *hertz > 0.0)
    }

    /// What it can be expressed in, and how.
    fn measure(&self) -> (Measure, Conversion) {
        const SECOND: f64 = 1e9;
        let by_samples = |hertz: f64| {
            let each = (SECOND / hertz).round().max(1.0) as u64;
            (Measure::Nanoseconds, Conversion::Samples(each))
        };
        let is_folded = self.profile.format == Format::Folded;
        match (&self.profile.unit, self.hertz()) {
            (Unit::Nanoseconds, _) => (Measure::Nanoseconds, Conversion::Weight),
            (Unit::Samples, Some(hertz)) => by_samples(hertz),
            (Unit::Samples, None) => (Measure::Samples, Conversion::Weight),
            // Sums of periods of folded stacks: whoever knows the rate knows what they are.
            (Unit::Events(_), Some(hertz)) if is_folded => by_samples(hertz),
            (Unit::Events(name), _) => (Measure::Events(name.clone()), Conversion::Weight),
        }
    }
}

/// How a run's tallies become those of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// The weights are what counts.
    Weight,
    /// Each sample is so much.
    Samples(u64),
}

impl Conversion {
    /// A tally in the unit of the comparison.
    pub(crate) fn apply(self, tally: Tally) -> Tally {
        match self {
            Self::Weight => tally,
            Self::Samples(each) => Tally::of(tally.samples, tally.samples.saturating_mul(each)),
        }
    }
}

/// The unit of all runs, and how each gets there.
pub(crate) fn common_measure(runs: &[&Run]) -> Result<(Measure, Vec<Conversion>), CompareError> {
    let measures: Vec<(Measure, Conversion)> = runs.iter().map(|run| run.measure()).collect();
    let first = measures[0].0.clone();
    if let Some(other) = measures.iter().position(|(measure, _)| *measure != first) {
        return Err(CompareError::Units {
            one: runs[0].name.clone(),
            one_counts: first.name().to_owned(),
            other: runs[other].name.clone(),
            other_counts: measures[other].0.name().to_owned(),
        });
    }
    Ok((first, measures.into_iter().map(|(_, how)| how).collect()))
}
