//! Whether a program scales on a simulated machine, in a word.
//!
//! The word is about the time of the whole program. It is withheld where it could be another one, or where times do not say
//! what the program does: [`Why`] has the reasons. Whoever only reads the first line must not take home what is wrong.
//!
//! # Decisions
//! * **A program collapses** if on the most cores it is a tenth or more slower than on fewer.
//! * **It scales** if it is at least half as fast there as all cores would be that do what those of the fewest do, and the
//!   last cores still help. **It flattens** if it does neither.
//! * **Work is the same on each number of cores, or each core's own.** Where a program computes more on more cores, either
//!   may be so. If the two give two words, there is none.
//! * **Chance is taken at its worst and at its best**: all other runs the quickest and those on the most cores the
//!   slowest, and the reverse. If that gives two words, there is none.

mod figures;
mod gains;
mod said;
mod spent;
#[cfg(test)]
mod tests;
mod why;

use kilocore_emulation_orders::Report;
use kilocore_figures::Shape;
use serde::Serialize;

use crate::Variant;

pub(crate) use said::{Scope, answer};
pub use why::Why;

/// Below this part of what it was on fewer cores, a program has collapsed.
const FALLEN: f64 = 0.9;
/// A program that scales does at least this part of what all cores would do that hinder one another in nothing.
const PART: f64 = 0.5;
/// Of what the last cores add, a program that scales follows at least this part.
const FOLLOWED: f64 = 0.4;
/// The last cores are those beyond this part of all.
const LAST: f64 = 0.5;

/// Whether a program scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It scales, flattens or collapses.
    Shape(Shape),
    /// It has one thread only, so that more cores do nothing for it.
    NoThreads,
    /// That is not known.
    Unknown(Why),
}

/// A verdict as documents have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct InDocument {
    verdict: &'static str,
    unknown_because: Option<Why>,
}

impl Verdict {
    /// The verdict on a program under some locks. Of several reasons to withhold it, the first is given.
    #[must_use]
    pub fn of(variant: &Variant) -> Self {
        if let Some(why) = why::times_say_nothing(variant) {
            return Self::Unknown(why);
        }
        if why::has_one_thread(variant) {
            return Self::NoThreads;
        }
        if let Some(why) = why::times_may_say_nothing(variant) {
            return Self::Unknown(why);
        }
        let curve = Curve::of(variant, |report| Some(report.end_ns));
        let Some((curve, shape)) = curve.and_then(|curve| curve.shape().map(|it| (curve, it)))
        else {
            return Self::Unknown(Why::Chance);
        };
        let is_same = curve.for_each_core().shape() == Some(shape);
        match why::more_work(variant) {
            Some(_) if !is_same => Self::Unknown(Why::MoreWork),
            _ => Self::Shape(shape),
        }
    }

    /// Its name, as in documents: `collapses`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shape(shape) => shape.name(),
            Self::NoThreads => "no-threads",
            Self::Unknown(_) => "unknown",
        }
    }

    pub(crate) fn in_document(self) -> InDocument {
        let unknown_because = match self {
            Self::Unknown(why) => Some(why),
            Self::Shape(_) | Self::NoThreads => None,
        };
        InDocument { verdict: self.name(), unknown_because }
    }
}

/// How long a program, or a part of it, takes on several numbers of cores.
#[derive(Debug, Clone, PartialEq)]
struct Curve(Vec<On>);

/// How long it takes on so many cores, in ns: the run that is shown, the quickest one and the slowest.
#[derive(Debug, Clone, Copy, PartialEq)]
struct On {
    cores: u32,
    ns: f64,
    quickest: f64,
    slowest: f64,
}

impl Curve {
    /// None if some run has no such time.
    fn of(variant: &Variant, ns: impl Fn(&Report) -> Option<f64>) -> Option<Self> {
        let of = |report: &Report| ns(report).filter(|ns| *ns > 0.0).unwrap_or(f64::NAN);
        let on = |(cores, runs): &(u32, crate::Runs)| {
            let (quickest, slowest) = runs.range(|point| of(&point.report)).into_inner();
            On { cores: *cores, ns: of(&runs.shown().report), quickest, slowest }
        };
        let curve: Vec<On> = variant.points.iter().map(on).collect();
        let is_whole = curve.iter().all(|on| on.quickest.is_finite() && on.slowest.is_finite());
        (is_whole && !curve.is_empty()).then_some(Self(curve))
    }

    /// How long it takes for the work of a core, if each has work of its own.
    fn for_each_core(&self) -> Self {
        let of = |on: &On| {
            let each = |ns: f64| ns / f64::from(on.cores);
            On {
                cores: on.cores,
                ns: each(on.ns),
                quickest: each(on.quickest),
                slowest: each(on.slowest),
            }
        };
        Self(self.0.iter().map(of).collect())
    }

    /// Its shape. None if that is for chance to decide.
    fn shape(&self) -> Option<Shape> {
        let [worst, best] = self.shapes();
        (worst == best).then_some(worst)
    }

    /// The worst shape that the runs leave open, and the best one.
    fn shapes(&self) -> [Shape; 2] {
        let with = |last: fn(&On) -> f64, others: fn(&On) -> f64| {
            let of = |(index, on): (usize, &On)| {
                let ns = if index + 1 == self.0.len() { last(on) } else { others(on) };
                (on.cores, ns)
            };
            shape(&self.0.iter().enumerate().map(of).collect::<Vec<_>>())
        };
        [with(|on| on.slowest, |on| on.quickest), with(|on| on.quickest, |on| on.slowest)]
    }

    fn shown(&self) -> Vec<(u32, f64)> {
        self.0.iter().map(|on| (on.cores, on.ns)).collect()
    }

    fn last(&self) -> On {
        self.0[self.0.len() - 1]
    }
}

/// The shape of a curve of numbers of cores and times, of which there is at least one.
fn shape(times: &[(u32, f64)]) -> Shape {
    let (last, before) = times.split_last().expect("there is a time");
    let quickest = before.iter().map(|(_, ns)| *ns).fold(f64::INFINITY, f64::min);
    let (first_cores, first_ns) = times[0];
    let worth = f64::from(last.0) / f64::from(first_cores);
    if quickest <= FALLEN * last.1 {
        Shape::Collapses
    } else if first_ns >= PART * worth * last.1 && rises(times) {
        Shape::Scales
    } else {
        Shape::Flattens
    }
}

/// Whether the last cores help.
fn rises(times: &[(u32, f64)]) -> bool {
    let last = times[times.len() - 1];
    let (cores, ns) = times[last_stretch(times)];
    let (added, gained) = (f64::from(last.0) / f64::from(cores) - 1.0, ns / last.1 - 1.0);
    gained >= FOLLOWED * added
}

/// Where the last cores begin: at the most that are at most half as many, or at the fewest.
fn last_stretch(times: &[(u32, f64)]) -> usize {
    let most = f64::from(times[times.len() - 1].0) * LAST;
    times.iter().rposition(|(cores, _)| f64::from(*cores) <= most).unwrap_or(0)
}
