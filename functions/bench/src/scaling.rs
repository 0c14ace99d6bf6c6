//! What a curve of rates over core counts says.
//!
//! Two laws are fitted to the curve. In Gustafson's law, each core does as much work as one core
//! does alone, except for a serial share s: S(N) = N − s(N − 1). Gunther's universal scalability
//! law can also fall. Each is given with its distance from the curve, so a reader sees which one
//! describes it.

use kilocore_figures::{Curve, CurvePoint, Judged, Shape, gustafson, misfit, usl};
use serde::{Deserialize, Serialize};

use crate::summary::Summary;

/// Gustafson's law, fitted, and its distance from what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gustafson {
    /// The serial share, from 0, where the rate scales linearly, to 1, where it does not scale. The
    /// law has no larger share.
    pub serial: f64,
    /// The root mean square of the relative errors.
    pub error: f64,
}

/// The universal scalability law, fitted, and its distance from what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// The rate of one core, in operations per second.
    pub lambda_per_s: f64,
    /// The coefficient of contention.
    pub sigma: f64,
    /// The coefficient of coherency. It is 0 if only two core counts were measured.
    pub kappa: f64,
    /// The number of cores with the highest rate, if the law has a peak.
    pub peak: Option<f64>,
    /// The root mean square of the relative errors.
    pub error: f64,
}

impl Gustafson {
    fn of(speedups: &[(f64, f64)]) -> Self {
        let law = gustafson::fit(speedups);
        Self { serial: law.serial, error: misfit(speedups, |cores| law.at(cores)) }
    }
}

impl Usl {
    fn of(points: &[(u32, Summary)]) -> Option<Self> {
        let rates: Vec<(f64, f64)> =
            points.iter().map(|(cores, at)| (f64::from(*cores), at.per_s)).collect();
        let law = usl::fit(&rates)?;
        Some(Self {
            lambda_per_s: law.lambda,
            sigma: law.sigma,
            kappa: law.kappa,
            peak: law.peak(),
            error: misfit(&rates, |cores| law.at(cores)),
        })
    }

    /// Returns the rate on `cores` cores, in operations per second.
    #[must_use]
    pub fn at(&self, cores: f64) -> f64 {
        usl::Law { lambda: self.lambda_per_s, sigma: self.sigma, kappa: self.kappa }.at(cores)
    }
}

/// What a curve says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Whether throughput scales, flattens or collapses.
    pub shape: Shape,
    /// The speedup on the most cores, relative to one core. If one core was not measured, the rate
    /// is taken to be linear up to the fewest cores that were.
    pub speedup: f64,
    /// The number of cores with the highest rate.
    pub peak_cores: u32,
    /// The fewest cores beyond the peak from which on a tenth of it is lost. The intervals there do
    /// not overlap with that of the peak.
    pub collapse_cores: Option<u32>,
    /// Whether other programs took the tasks' cores away, on some core counts more than on others.
    /// A curve that does not scale may then be due to them.
    #[serde(default)]
    pub disturbed: bool,
    /// Gustafson's law, fitted to the speedups.
    pub gustafson: Gustafson,
    /// The universal scalability law.
    pub usl: Option<Usl>,
}

/// How much the share of time that tasks had their cores may differ between core counts.
const EVEN: f64 = 0.05;

/// The samples on a number of cores, summed up as a point of a curve.
struct Measured {
    cores: u32,
    summary: Summary,
}

impl CurvePoint for Measured {
    fn cores(&self) -> u32 {
        self.cores
    }

    fn throughput(&self) -> f64 {
        self.summary.per_s
    }

    fn interval(&self) -> (f64, f64) {
        (self.summary.interval.low, self.summary.interval.high)
    }
}

impl Scaling {
    /// Returns what the curve through these points says, or `None` if there are fewer than two. The
    /// points have ascending core counts. `keeps_core` is
    /// [`Info::keeps_core`](crate::Info::keeps_core).
    #[must_use]
    pub fn of(points: &[(u32, Summary)], keeps_core: bool) -> Option<Self> {
        let ((first, base), (_, last)) = (points.first()?, points.last()?);
        if points.len() < 2 {
            return None;
        }
        let alone = base.per_s / f64::from(*first);
        let speedups: Vec<(f64, f64)> =
            points.iter().map(|(cores, at)| (f64::from(*cores), at.per_s / alone)).collect();
        let of = |&(cores, summary): &(u32, Summary)| Measured { cores, summary };
        let curve = Curve::new(points.iter().map(of).collect(), Judged::ByOneCore);
        let on_core = || points.iter().map(|(_, at)| at.on_core);
        let range = on_core().fold(0.0, f64::max) - on_core().fold(f64::INFINITY, f64::min);
        Some(Self {
            shape: curve.shape,
            speedup: last.per_s / alone,
            peak_cores: curve.peak_cores,
            collapse_cores: curve.collapse_cores,
            disturbed: keeps_core && curve.shape != Shape::Scales && range > EVEN,
            gustafson: Gustafson::of(&speedups),
            usl: Usl::of(points),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Interval, Noise};

    fn curve(rate: impl Fn(f64) -> f64) -> Vec<(u32, Summary)> {
        let at = |cores: u32| {
            let per_s = rate(f64::from(cores));
            let interval = Interval { low: per_s * 0.99, high: per_s * 1.01, certainty: 0.95 };
            (cores, Summary::plain(per_s, interval, Noise::Steady))
        };
        [1, 2, 4, 8, 16].map(at).to_vec()
    }

    #[test]
    fn a_line_scales_and_has_no_serial_share() {
        let found = Scaling::of(&curve(|n| 7.0 * n), true).unwrap();
        assert_eq!((found.shape, found.collapse_cores), (Shape::Scales, None));
        assert!((found.speedup - 16.0).abs() < 1e-9 && found.gustafson.serial < 1e-9);
        assert!(found.usl.unwrap().sigma < 1e-6);
    }

    #[test]
    fn gustafsons_share_is_found_again() {
        let found = Scaling::of(&curve(|n| 5.0 * (n - 0.3 * (n - 1.0))), true).unwrap();
        assert!((found.gustafson.serial - 0.3).abs() < 1e-9 && found.gustafson.error < 1e-9);
        assert_eq!(found.shape, Shape::Flattens);
    }

    #[test]
    fn a_fall_is_seen_where_it_begins() {
        let law = |n: f64| n / (1.0 + 0.1 * (n - 1.0) + 0.05 * n * (n - 1.0));
        let found = Scaling::of(&curve(law), true).unwrap();
        assert_eq!((found.shape, found.peak_cores), (Shape::Collapses, 4));
        assert_eq!(found.collapse_cores, Some(8));
        let usl = found.usl.unwrap();
        assert!((usl.sigma - 0.1).abs() < 1e-5 && (usl.kappa - 0.05).abs() < 1e-5, "{usl:?}");
        assert!(usl.error < found.gustafson.error);
    }

    #[test]
    fn a_fall_within_the_noise_is_none() {
        let mut points = curve(|n| if n > 8.0 { 7.0 } else { n });
        let (_, last) = points.last_mut().unwrap();
        last.interval.high = 9.0;
        assert_eq!(Scaling::of(&points, true).unwrap().collapse_cores, None);
    }

    #[test]
    fn a_curve_that_others_may_have_bent_is_doubted() {
        let mut points = curve(|n| n.sqrt());
        assert!(!Scaling::of(&points, true).unwrap().disturbed);
        points.last_mut().unwrap().1.on_core = 0.9;
        assert!(Scaling::of(&points, true).unwrap().disturbed);
        // Tasks may have slept.
        assert!(!Scaling::of(&points, false).unwrap().disturbed);
        let mut points = curve(|n| n);
        points[0].1.on_core = 0.5;
        assert!(!Scaling::of(&points, true).unwrap().disturbed);
    }

    #[test]
    fn one_count_says_nothing() {
        assert_eq!(Scaling::of(&curve(|n| n)[..1], true), None);
        assert_eq!(Scaling::of(&[], true), None);
    }
}
