//! A program under one lock, and what is simulated of it so far.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kilocore_locks::LockId;

use crate::affordable::{self, Affordable};
use crate::question::{Question, VARIANTS};
use crate::{
    Curve, ForecastGain, ForecastPoint, Point, PointError, PointJob, Profiled, TriedLock, Workload,
    curve_on,
};

/// Which of a candidate's workloads are simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Band {
    /// The one as profiled, so that the band is that of chance alone.
    OfChance,
    /// The two that bound it as well.
    OfProfile,
}

impl Band {
    /// The number of simulations for each number of cores.
    fn simulations(self) -> usize {
        match self {
            Self::OfChance => 1,
            Self::OfProfile => VARIANTS,
        }
    }
}

/// A program under a lock. Each of its points is simulated at most once.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    /// The lock, which names the curve.
    pub(crate) lock: TriedLock,
    workloads: [Cow<'a, Workload>; VARIANTS],
    /// What is known, by number of cores and place of the workload.
    points: BTreeMap<(u32, usize), Point>,
}

impl<'a> Candidate<'a> {
    /// A candidate of which nothing is simulated yet: the workload as profiled and the two that bound it.
    pub(crate) fn new(lock: TriedLock, workloads: [Cow<'a, Workload>; VARIANTS]) -> Self {
        Self { lock, workloads, points: BTreeMap::new() }
    }

    /// A profiled program under a mutex, as it is otherwise.
    pub(crate) fn under(profiled: &'a Profiled, lock: LockId) -> Self {
        let [well, badly] = &profiled.bounds;
        Self::new(TriedLock::Mutex(lock), [&profiled.workload, well, badly].map(Cow::Borrowed))
    }

    /// The curve through what is simulated, on these numbers of cores.
    ///
    /// # Panics
    /// If nothing is simulated there.
    pub(crate) fn curve(&self, question: &Question<'_>, cores: &[u32]) -> Curve {
        let points = cores.iter().filter_map(|&cores| self.point(cores)).collect();
        curve_on(question.machine, self.lock.name(), points)
    }

    /// What is simulated on that many cores.
    pub(crate) fn point(&self, cores: u32) -> Option<ForecastPoint> {
        let known: Vec<&Point> = self.of_each_workload(cores).collect();
        (!known.is_empty()).then(|| with_band(&known))
    }

    /// What is simulated of each workload on that many cores.
    pub(crate) fn of_each_workload(&self, cores: u32) -> impl Iterator<Item = &Point> {
        self.points.range((cores, 0)..(cores, VARIANTS)).map(|(_, point)| point)
    }

    /// The throughput on that many cores as a multiple of another candidate's. Each workload is compared with
    /// the same one of the other, as far as both are simulated; the band covers all these comparisons and
    /// their errors by chance.
    pub(crate) fn against(&self, other: &Candidate<'_>, cores: u32) -> Option<ForecastGain> {
        let each = self.of_each_workload(cores).zip(other.of_each_workload(cores));
        let gains: Vec<(f64, f64)> = each
            .map(|(to, from)| {
                let errors = [to, from].map(|p| p.throughput_error_per_s / p.throughput_per_s);
                (to.throughput_per_s / from.throughput_per_s, errors[0].hypot(errors[1]).exp())
            })
            .collect();
        let (gain, _) = *gains.first()?;
        let low = gains.iter().map(|(gain, error)| gain / error).fold(f64::INFINITY, f64::min);
        let high = gains.iter().map(|(gain, error)| gain * error).fold(0.0, f64::max);
        Some(ForecastGain { gain, low, high })
    }

    fn missing(&self, cores: u32, band: Band) -> Vec<(u32, usize)> {
        let all = (0..band.simulations()).map(|variant| (cores, variant));
        all.filter(|which| !self.points.contains_key(which)).collect()
    }
}

/// Simulates what is missing of candidates on these numbers of cores, all at once.
pub(crate) fn simulate_all(
    candidates: &mut [&mut Candidate<'_>],
    (cores, band): (&[u32], Band),
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<(), PointError> {
    let missing: Vec<(usize, (u32, usize))> = cores
        .iter()
        .flat_map(|&cores| {
            let of = |candidate: &&mut Candidate<'_>| candidate.missing(cores, band);
            let each = candidates.iter().map(of).enumerate();
            each.flat_map(|(of, which)| which.into_iter().map(move |which| (of, which)))
                .collect::<Vec<_>>()
        })
        .collect();
    simulate_these(candidates, missing, question, progress)
}

/// Simulates points at once, on all cores of the host: of which candidate, on how many cores, and with which of its
/// workloads.
///
/// # Errors
/// [`PointError`] if the machine does not have the cores.
pub(crate) fn simulate_these(
    candidates: &mut [&mut Candidate<'_>],
    missing: Vec<(usize, (u32, usize))>,
    question: &Question<'_>,
    progress: &(dyn Fn() + Sync),
) -> Result<(), PointError> {
    let affordable: Vec<Affordable<'_>> = missing
        .iter()
        .map(|&(of, (cores, variant))| {
            affordable::affordable(question.size, &candidates[of].workloads[variant], cores)
        })
        .collect();
    let jobs: Vec<PointJob<'_>> = missing
        .iter()
        .zip(&affordable)
        .map(|(&(of, (cores, _)), Affordable { workload, size, .. })| PointJob {
            workload,
            lock: candidates[of].lock,
            cores,
            size: *size,
        })
        .collect();
    let mut points = question.source.points(question.machine, &jobs, progress)?;
    for (point, affordable) in points.iter_mut().zip(&affordable) {
        affordable.undo(point);
    }
    drop(affordable);
    for ((of, which), point) in missing.into_iter().zip(points) {
        candidates[of].points.insert(which, point);
    }
    Ok(())
}

/// Returns the point of the workload as profiled, which is the first. Its band covers all points and
/// their errors by chance.
///
/// A throughput is more than nothing, however little is known of it, so its error is taken as a
/// factor. Small errors come out as they would if they were added and subtracted.
fn with_band(points: &[&Point]) -> ForecastPoint {
    let factor = |p: &Point| (p.throughput_error_per_s / p.throughput_per_s).exp();
    let low = points.iter().map(|p| p.throughput_per_s / factor(p));
    let high = points.iter().map(|p| p.throughput_per_s * factor(p));
    ForecastPoint {
        point: points[0].clone(),
        low: low.fold(f64::INFINITY, f64::min),
        high: high.fold(0.0, f64::max),
    }
}

#[cfg(test)]
mod tests {
    use super::with_band;
    use crate::Point;

    #[test]
    fn a_band_does_not_reach_nothing_however_little_is_known() {
        let of = |rate, error| Point {
            throughput_per_s: rate,
            throughput_error_per_s: error,
            ..Point::empty("futex")
        };
        let known = with_band(&[&of(100.0, 1.0), &of(90.0, 1.0), &of(110.0, 1.0)]);
        assert!((known.low - 89.0).abs() < 0.01 && (known.high - 111.0).abs() < 0.01, "{known:?}");
        let vague = with_band(&[&of(100.0, 150.0), &of(90.0, 1.0), &of(110.0, 1.0)]);
        assert!(vague.low > 0.0 && vague.low < 50.0 && vague.high > 250.0, "{vague:?}");
    }
}
