//! The shape of a curve: one rule, and the two ways in which curves are held to it.

use serde::{Deserialize, Serialize};

use crate::CurvePoint;

/// What a curve does.
///
/// The rule is one for all curves: a curve that has fallen from its peak collapses; of the others,
/// one that keeps rising with its cores scales, and the rest flatten. [`Judged`] says what counts
/// as a fall and what as rising.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// It rises with its cores.
    Scales,
    /// It has not fallen, but it does not rise with its cores either.
    Flattens,
    /// It has fallen well below its peak.
    Collapses,
}

/// How a curve is held to the rule of [`Shape`].
///
/// Forecasts and measurements ask different questions, so that no one standard suits both.
#[derive(Clone, Copy)]
pub enum Judged<'a> {
    /// By its end: would still more cores help, or has too much been lost already?
    ///
    /// This is the question of a forecast. Its points are without noise, and its last one is the
    /// machine in full, which is what the user will run on: a dip before that does not count. It
    /// has collapsed if it ends below 80 % of its peak. It rises if throughput follows at least
    /// 40 % of what the last stretch adds in cores; how it began does not matter.
    ByLastStretch {
        /// What so many cores compute, in cores. Two hardware threads of a core are not two cores:
        /// a program that gains a quarter by the second one scales all the same.
        worth: &'a dyn Fn(u32) -> f64,
    },
    /// By what one core does: do the cores hinder each other?
    ///
    /// This is the question of a measured benchmark, whose tasks have nothing to share but the
    /// interface under test. It has collapsed if any more cores do surely less than fewer: a tenth
    /// less, beyond noise. It rises if all cores together do at least 80 % of what they would do
    /// apart; where one core was not measured, the fewest are taken to scale.
    ByOneCore,
}

impl std::fmt::Debug for Judged<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Judged::ByLastStretch { .. } => "ByLastStretch",
            Judged::ByOneCore => "ByOneCore",
        })
    }
}

/// The share of the peak below which a curve that is judged by its end has collapsed.
const COLLAPSED: f64 = 0.8;
/// The part of the increase in cores over the last stretch that throughput must follow.
const STILL_RISING: f64 = 0.4;
/// Where the last stretch begins, as a share of the largest number of cores.
const LAST_STRETCH: f64 = 0.8;
/// The share of what all cores would do apart from which they do not hinder each other.
const NEARLY_LINEAR: f64 = 0.8;

impl Judged<'static> {
    /// By its end, where each core computes as much as the first.
    pub const BY_LAST_CORES: Self = Judged::ByLastStretch { worth: &f64::from };
}

impl Shape {
    /// The shape in a word, as in files: `scales`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Shape::Scales => "scales",
            Shape::Flattens => "flattens",
            Shape::Collapses => "collapses",
        }
    }

    /// The shape of a curve that has fallen or not, and that still rises at its end or not.
    pub(crate) fn by_rule(fallen: bool, rises: bool) -> Self {
        match (fallen, rises) {
            (true, _) => Shape::Collapses,
            (false, true) => Shape::Scales,
            (false, false) => Shape::Flattens,
        }
    }
}

impl Judged<'_> {
    /// Whether a curve with this end and this peak has fallen, which lost a tenth of its peak
    /// somewhere or did not.
    pub(crate) fn fallen(self, end: f64, peak: f64, lost_a_tenth: bool) -> bool {
        match self {
            Judged::ByLastStretch { .. } => end < COLLAPSED * peak,
            Judged::ByOneCore => lost_a_tenth,
        }
    }

    /// Whether a curve rises with its cores.
    pub(crate) fn rises<P: CurvePoint>(self, points: &[P]) -> bool {
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return false };
        let end = last.throughput();
        match self {
            Judged::ByLastStretch { worth } => {
                let most = worth(last.cores());
                let mut backwards = points.iter().rev().map(|p| (worth(p.cores()), p.throughput()));
                let before = backwards.find(|(cores, _)| *cores <= most * LAST_STRETCH);
                before.is_none_or(|(cores, rate)| {
                    end / rate - 1.0 >= STILL_RISING * (most / cores - 1.0)
                })
            }
            Judged::ByOneCore => {
                let alone = first.throughput() / f64::from(first.cores());
                end / alone >= NEARLY_LINEAR * f64::from(last.cores())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Judged, Shape};

    fn by_end(points: &[(u32, f64)]) -> Shape {
        Shape::of(points, Judged::BY_LAST_CORES)
    }

    fn by_one_core(points: &[(u32, f64)]) -> Shape {
        Shape::of(points, Judged::ByOneCore)
    }

    #[test]
    fn a_plateau_flattens_and_a_rise_scales() {
        assert_eq!(by_end(&[(1, 1.0), (8, 6.0), (32, 6.2), (64, 6.3)]), Shape::Flattens);
        assert_eq!(by_end(&[(1, 1.0), (8, 6.0), (32, 20.0), (64, 35.0)]), Shape::Scales);
        assert_eq!(by_end(&[(1, 1.0)]), Shape::Scales);
    }

    #[test]
    fn what_rises_at_its_end_may_still_be_far_from_what_cores_do_apart() {
        let points = [(1, 1.0), (8, 6.0), (32, 20.0), (64, 35.0)];
        assert_eq!((by_end(&points), by_one_core(&points)), (Shape::Scales, Shape::Flattens));
    }

    #[test]
    fn a_dip_before_the_end_is_a_collapse_only_of_what_is_measured() {
        let points = [(1, 1.0), (4, 4.0), (8, 3.0), (16, 8.0)];
        assert_eq!((by_end(&points), by_one_core(&points)), (Shape::Scales, Shape::Flattens));
        let points = [(1, 1.0), (4, 4.0), (8, 3.0), (16, 3.9)];
        assert_eq!((by_end(&points), by_one_core(&points)), (Shape::Flattens, Shape::Collapses));
    }

    #[test]
    fn hardware_threads_of_a_core_are_not_cores() {
        // Four cores with two threads each, of which the second adds a quarter.
        let worth = |threads: u32| f64::from(threads.min(4)) + f64::from(threads.max(4) - 4) / 4.0;
        let points = [1, 2, 4, 6, 8].map(|threads| (threads, worth(threads)));
        assert_eq!(by_end(&points), Shape::Flattens);
        assert_eq!(Shape::of(&points, Judged::ByLastStretch { worth: &worth }), Shape::Scales);
    }
}
