//! From measurements to all workloads that explain them, and from these workloads to forecasts.

use kilocore_locks::LockId;
use nalgebra::DVector;
use thiserror::Error;

use crate::fit::atlas::{Atlas, PhaseIndex};
use crate::fit::discrepancy::Process;
use crate::fit::estimate::{Estimate, Opinion};
use crate::fit::pinned::{self, Pinned, Plausible};
use crate::fit::waiting_style::{doubt, relative};
use crate::fit::weigh::{Basis, Hypothesis, weigh};
use crate::fit::{Measurements, mixture};

/// Why there is no forecast.
#[derive(Debug, Error)]
pub enum Refusal {
    /// There are this many points, and a fit takes at least three.
    #[error(
        "{0} measured point{s} cannot tell workloads apart (give at least 3, of different locks \
         or core counts)", s = if *.0 == 1 { "" } else { "s" }
    )]
    TooFew(usize),
    /// All points are on the same number of cores. They do not tell what more cores would do.
    #[error(
        "all points were measured on {0} core{s}, which does not tell what more or fewer would do \
         (give at least two numbers of cores)", s = if *.0 == 1 { "" } else { "s" }
    )]
    OneCoreCount(u32),
    /// No workload explains the measurements.
    #[error(
        "no workload explains these measurements: the best of all is off by a factor of {0:.1} on \
         average (are they all of one program, on this machine, with one thread for each core?)"
    )]
    Unexplained(f64),
    /// A workload that might explain the measurements cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] crate::PointError),
}

/// The fewest points that a fit takes.
const FEWEST_POINTS: usize = 3;
/// The root mean square error, in logarithms, beyond which no program can have produced the
/// measurements: a factor of three either way.
const UNEXPLAINED: f64 = 1.1;
/// The largest factor that is reported for such an error.
const WORST_FACTOR: f64 = 1e6;
/// The largest number of lock phases that take part in forecasts.
const MOST_PHASES: usize = 64;

/// All workloads that explain the measurements.
#[derive(Debug)]
pub struct Fit {
    hypotheses: Vec<Hypothesis>,
    /// What each of these workloads leaves unexplained.
    unexplained: Vec<(Process, DVector<f64>)>,
    /// The locks of the measurements, in their order.
    measured: Vec<LockId>,
    residual: f64,
    log_evidence: f64,
}

/// Weighs the workloads of `atlas` by `measurements`.
///
/// `progress` is told how many simulations are done and how many are needed, from any thread.
///
/// # Errors
/// [`Refusal`] if the measurements do not allow a forecast.
pub fn fit(
    atlas: &Atlas<'_>,
    measurements: &Measurements,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Fit, Refusal> {
    let points = &measurements.points;
    if points.len() < FEWEST_POINTS {
        return Err(Refusal::TooFew(points.len()));
    }
    if points.iter().all(|point| point.cores == points[0].cores) {
        return Err(Refusal::OneCoreCount(points[0].cores));
    }
    let places: Vec<(LockId, u32)> = points.iter().map(|p| (p.lock, p.cores)).collect();
    let measured: Vec<f64> = points.iter().map(|p| libm::log(p.throughput)).collect();
    let phases: Vec<PhaseIndex> = (0..atlas.phases().len()).collect();
    let basis = Basis::new(atlas, &phases, &places, progress)?;
    let (weighed, log_evidence) = weigh(atlas, &basis, &measured);
    let hypotheses = draw(weighed);
    let residual = residual(&basis, &hypotheses, &measured);
    if residual > UNEXPLAINED {
        return Err(Refusal::Unexplained(libm::exp(residual).min(WORST_FACTOR)));
    }
    let unexplained = hypotheses.iter().map(|hypothesis| {
        let (errors, places) = basis.errors(hypothesis, &measured);
        (Process::new(hypothesis.level, places), errors)
    });
    Ok(Fit {
        unexplained: unexplained.collect(),
        measured: places.iter().map(|&(lock, _)| lock).collect(),
        hypotheses,
        residual,
        log_evidence,
    })
}

/// Keeps the hypotheses of at most [`MOST_PHASES`] lock phases, each drawn with its weight, so that
/// forecasts need not simulate all of them. The draws are evenly spaced over the sum of weights.
fn draw(hypotheses: Vec<Hypothesis>) -> Vec<Hypothesis> {
    let most = hypotheses.iter().map(|h| h.phase).max().unwrap_or(0);
    let mut weights = vec![0.0; most + 1];
    for hypothesis in &hypotheses {
        weights[hypothesis.phase] += hypothesis.weight;
    }
    let mut draws = vec![0_u32; weights.len()];
    let (mut sum, mut next) = (0.0, 0.5);
    for (phase, weight) in weights.iter().enumerate() {
        sum += weight * MOST_PHASES as f64;
        while next < sum {
            draws[phase] += 1;
            next += 1.0;
        }
    }
    let drawn: f64 = draws.iter().map(|&n| f64::from(n)).sum();
    let reweigh = |mut h: Hypothesis| {
        let factor = f64::from(draws[h.phase]) / drawn / weights[h.phase];
        h.weight *= factor;
        (h.weight > 0.0).then_some(h)
    };
    hypotheses.into_iter().filter_map(reweigh).collect()
}

/// The root mean square of what the weightiest hypothesis leaves unexplained, without the unit.
fn residual(basis: &Basis, hypotheses: &[Hypothesis], measured: &[f64]) -> f64 {
    let Some(best) = hypotheses.first() else { return f64::INFINITY };
    let (errors, _) = basis.errors(best, measured);
    let mean = errors.mean();
    (errors.map(|e| (e - mean) * (e - mean)).mean()).sqrt()
}

impl Fit {
    /// Forecasts throughputs, in the order of `wanted`, in the unit of the measurements.
    ///
    /// # Errors
    /// [`Refusal::Simulation`] if a point cannot be simulated.
    pub fn forecast(
        &self,
        atlas: &Atlas<'_>,
        wanted: &[(LockId, u32)],
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Vec<Estimate>, Refusal> {
        let mut phases: Vec<PhaseIndex> = self.hypotheses.iter().map(|h| h.phase).collect();
        phases.sort_unstable();
        phases.dedup();
        let (places, relatives) = self.with_relatives(wanted);
        let basis = Basis::new(atlas, &phases, &places, progress)?;
        let themselves: Vec<usize> = (0..wanted.len()).collect();
        let (own, relatives) = (basis.standing_in(&themselves), basis.standing_in(&relatives));
        let mut opinions = vec![Vec::with_capacity(2 * self.hypotheses.len()); wanted.len()];
        for (hypothesis, (process, errors)) in self.hypotheses.iter().zip(&self.unexplained) {
            let doubt = doubt(hypothesis.level);
            for (basis, belief) in [(&own, 1.0 - doubt), (&relatives, doubt)] {
                let (logs, places) = basis.forecast(hypothesis);
                let weight = hypothesis.weight * belief;
                let expected = process.expect(errors, &places);
                for (i, (mean, variance)) in expected.into_iter().enumerate() {
                    opinions[i].push(Opinion { weight, mean: logs[i] + mean, variance });
                }
            }
        }
        Ok(opinions.iter().map(|opinions| Estimate::of(opinions)).collect())
    }

    /// Returns two lists. The first has the places wanted, and behind them the same places with the
    /// locks' measured relatives, where a lock has one. The second has, for each wanted place, the
    /// index of its relative's place, or its own index if there is no relative.
    fn with_relatives(&self, wanted: &[(LockId, u32)]) -> (Vec<(LockId, u32)>, Vec<usize>) {
        let mut places = wanted.to_vec();
        let place = |(own, &(lock, cores)): (usize, &(LockId, u32))| {
            let Some(relative) = relative(lock, &self.measured) else { return own };
            places.push((relative, cores));
            places.len() - 1
        };
        let relatives = wanted.iter().enumerate().map(place).collect();
        (places, relatives)
    }

    /// The workloads, the weightiest first.
    #[must_use]
    pub fn plausible(&self, atlas: &Atlas<'_>) -> Vec<Plausible> {
        pinned::plausible(atlas, &self.hypotheses)
    }

    /// How well each parameter is pinned down.
    #[must_use]
    pub fn pinned(&self, atlas: &Atlas<'_>) -> Vec<Pinned> {
        let mut beforehand = Vec::new();
        for (phase, described) in atlas.phases().iter().enumerate() {
            for (mixture, prior) in mixture::all() {
                let weight = prior * described.prior;
                beforehand.push(Hypothesis { phase, mixture, level: 0.0, weight });
            }
        }
        pinned::pinned(atlas, &self.hypotheses, &beforehand)
    }

    /// The root mean square of what the weightiest workload leaves unexplained of the measurements,
    /// as a share of them.
    #[must_use]
    pub fn residual(&self) -> f64 {
        libm::exp(self.residual) - 1.0
    }

    /// The logarithm of how likely the measurements are under all workloads together, up to a
    /// constant that depends on how many they are. Descriptions of one machine can be compared by
    /// its sum over several programs.
    #[must_use]
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }
}
