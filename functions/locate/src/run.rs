//! One recorded run, and the conversion of several runs to one unit.

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::{Format, Rate, SampledProfile, Tally, Unit};

use crate::{CompareError, Work};

/// A profile and the facts about its run. If a fact is not known, something is assumed, and a
/// warning says so.
#[derive(Debug, Clone)]
pub struct Run {
    /// The name of the file, for messages.
    pub name: String,
    /// The samples of the run.
    pub profile: SampledProfile,
    /// How many cores the program had.
    pub cores: Option<u32>,
    /// How much work it did.
    pub work: Option<Work>,
    /// How long it took by the wall clock.
    pub elapsed: Option<Nanoseconds>,
    /// How many samples were taken in a second of processor time, if the profile counts samples.
    pub frequency: Option<f64>,
    /// The clock of the cores in GHz, by which cycles become time, if somebody says what it was. The
    /// nominal one that a profile states is taken otherwise, unless something contradicts it.
    pub clock_ghz: Option<f64>,
}

/// The unit of the figures of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// Nanoseconds of processor time.
    Nanoseconds,
    /// Of threads that sleep: how long, or how often they began to.
    Asleep,
    /// Nanoseconds that threads waited, mostly for locks.
    Waiting,
    /// Samples. It is not known how much time each stands for.
    Samples,
    /// Events of this kind.
    Events(String),
}

impl Measure {
    /// Returns the name of the unit behind a figure.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Asleep => "counts",
            Self::Waiting => "ns of waiting",
            Self::Samples => "samples",
            Self::Events(name) => name,
        }
    }

    /// Returns whether the figures are of threads that were not on processors. They tell nothing of
    /// what the program did there, nor of how it used its cores.
    #[must_use]
    pub fn is_off_processors(&self) -> bool {
        matches!(self, Self::Asleep | Self::Waiting)
    }
}

impl Run {
    /// Returns how often this run was sampled in a second, if that is known.
    pub(crate) fn hertz(&self) -> Option<f64> {
        let of_profile = match self.profile.facts.rate {
            Some(Rate::Hertz(hertz)) => Some(hertz),
            _ => None,
        };
        self.frequency.or(of_profile).filter(|hertz| hertz.is_finite() && *hertz > 0.0)
    }

    /// Returns in which units the run can be expressed, and how. Without a stated clock, cycles become
    /// time by the nominal one.
    fn measure(&self, nominal_ghz: Option<f64>) -> (Measure, Conversion) {
        const SECOND: f64 = 1e9;
        let by_samples = |hertz: f64| {
            let each = (SECOND / hertz).round().max(1.0) as u64;
            (Measure::Nanoseconds, Conversion::Samples(each))
        };
        let is_folded = self.profile.format == Format::Folded;
        match (&self.profile.unit, self.hertz()) {
            (Unit::Nanoseconds, _) => (Measure::Nanoseconds, Conversion::Weight),
            (Unit::Asleep, _) => (Measure::Asleep, Conversion::Weight),
            (Unit::Waiting, _) => (Measure::Waiting, Conversion::Weight),
            (Unit::Samples, Some(hertz)) => by_samples(hertz),
            (Unit::Samples, None) => (Measure::Samples, Conversion::Weight),
            // Folded stacks have sums of periods. The rate of samples says what they are.
            (Unit::Events(_), Some(hertz)) if is_folded => by_samples(hertz),
            (Unit::Events(name), _) => {
                match self.clock_ghz.or(nominal_ghz).filter(|_| name == CYCLES) {
                    Some(ghz) => (Measure::Nanoseconds, Conversion::Cycles(ghz)),
                    None => (Measure::Events(name.clone()), Conversion::Weight),
                }
            }
        }
    }
}

/// The event that a clock makes time.
const CYCLES: &str = "cycles";

/// Nominal clocks count as one if they differ by no more than this.
const SAME_CLOCK: f64 = 0.01;
/// By a clock that is too slow, a run has more time on processors than there was. The excess over 1
/// allows for errors of the sampler's clock.
const ABOVE_CORES: f64 = 1.05;

/// Returns the nominal clock by which the cycles of these runs become time, in GHz. There is none if a
/// profile does not state it, if two state different ones, or if by it a run was on more processors
/// than it had: cores may run faster than their nominal clock.
pub(crate) fn nominal_clock(runs: &[&Run]) -> Option<f64> {
    let unknown = |run: &&&Run| {
        run.clock_ghz.is_none()
            && matches!(run.measure(None).0, Measure::Events(name) if name == CYCLES)
    };
    let clocks = runs.iter().filter(unknown).map(|run| run.profile.facts.clock_ghz);
    let clocks: Vec<f64> = clocks.collect::<Option<_>>()?;
    let ghz = *clocks.first()?;
    let differs = |other: &f64| (other / ghz).max(ghz / other) > 1.0 + SAME_CLOCK;
    let is_exceeded = |run: &&Run| {
        let (Some(cores), Some(elapsed)) = (run.cores, run.elapsed) else { return false };
        let busy = Nanoseconds(run.profile.total().weight as f64 / ghz);
        busy > elapsed.calculated() * f64::from(cores) * ABOVE_CORES
    };
    let is_contradicted =
        clocks.iter().any(differs) || runs.iter().filter(unknown).any(is_exceeded);
    (!is_contradicted).then_some(ghz)
}

/// How the tallies of a run are converted to the unit of the comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Conversion {
    /// The weights are in that unit.
    Weight,
    /// Each sample stands for this much.
    Samples(u64),
    /// The weights are cycles of a clock of so many GHz.
    Cycles(f64),
}

impl Conversion {
    /// Returns a tally in the unit of the comparison.
    pub(crate) fn apply(self, tally: Tally) -> Tally {
        match self {
            Self::Weight => tally,
            Self::Cycles(ghz) => Tally {
                weight: (tally.weight as f64 / ghz).round() as u64,
                squares: (tally.squares as f64 / (ghz * ghz)).round() as u128,
                ..tally
            },
            Self::Samples(each) => Tally::of(tally.samples, tally.samples.saturating_mul(each)),
        }
    }
}

/// Returns the unit of all runs, and how each of them is converted to it. Cycles become time by
/// `nominal_ghz` where nobody says what the clock was.
pub(crate) fn common_measure(
    runs: &[&Run],
    nominal_ghz: Option<f64>,
) -> Result<(Measure, Vec<Conversion>), CompareError> {
    let measures: Vec<(Measure, Conversion)> =
        runs.iter().map(|run| run.measure(nominal_ghz)).collect();
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
