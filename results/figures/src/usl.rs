//! The universal scalability law, fitted to the same points for comparison.
//!
//! Gunther's law gives the throughput on N cores as X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), where λ
//! is the throughput of one core, σ the share of work that queues for something that only one core
//! has at a time, and κ what keeping each pair of cores coherent costs. It knows neither the lock
//! nor the machine: each lock has a law of its own, and there is none for a lock that was not
//! measured.
//!
//! # How it is fitted
//! N/X(N) is linear in 1/λ, σ/λ and κ/λ. The squares of the errors of the *logarithm* of the
//! throughput are made least, by Gauss and Newton's steps, each a linear least-squares problem with
//! parameters that must not be negative. Logarithms, because a measurement errs by a share of
//! itself, so that a throughput after a collapse counts as much as one at the peak.
//!
//! # Why not the crate `usl`
//! It takes six points or panics, and its parameters may become negative.

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// The universal scalability law, fitted to a curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Law {
    /// Throughput of one core, in the unit of the points; larger than zero.
    pub lambda: f64,
    /// Contention: the share of the work that cores do one after the other, from 0.
    pub sigma: f64,
    /// Coherency: what each pair of cores costs, as a share of the work on one core, from 0.
    pub kappa: f64,
}

impl Law {
    /// The throughput on a number of cores, in the unit of the points.
    #[must_use]
    pub fn at(&self, cores: f64) -> f64 {
        let others = cores - 1.0;
        self.lambda * cores / (1.0 + self.sigma * others + self.kappa * cores * others)
    }

    /// The number of cores with the highest throughput, at least 1; none if throughput rises for
    /// ever or stays as it is.
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        let rises = 1.0 - self.sigma;
        if rises <= 0.0 {
            return (rises < 0.0 || self.kappa > 0.0).then_some(1.0);
        }
        (self.kappa > 0.0).then(|| (rises / self.kappa).sqrt().max(1.0))
    }
}

/// How many times the highest measured throughput one core alone may be taken to give. Without a
/// bound, throughputs that fall steeply from the first would make it infinite.
const MOST_ALONE: f64 = 10.0;
/// Gauss and Newton's steps, of which a handful is usual.
const MOST_STEPS: u32 = 60;
/// How often a step that makes matters worse is halved before the fit stands.
const MOST_HALVINGS: u32 = 20;
/// A smaller relative gain ends the fit.
const LEAST_GAIN: f64 = 1e-12;

/// Fits the law to points of cores and throughput, in any order; several may have the same cores.
///
/// Points of two core counts do not say how a curve bends, so that κ is then 0. Points of one core
/// count say nothing, and none is given; nor is one if a number of cores below 1 or a throughput
/// that is not a number larger than zero is among the points.
#[must_use]
pub fn fit(points: &[(f64, f64)]) -> Option<Law> {
    let sound = |&(cores, throughput): &(f64, f64)| {
        cores >= 1.0 && cores.is_finite() && throughput > 0.0 && throughput.is_finite()
    };
    let mut counts: Vec<f64> = points.iter().map(|point| point.0).collect();
    counts.sort_by(f64::total_cmp);
    counts.dedup();
    if !points.iter().all(sound) || counts.len() < 2 {
        return None;
    }
    let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let problem = Problem::new(points, highest, if counts.len() == 2 { 2 } else { 3 });
    let [alone, contention, coherency] = problem.solve();
    Some(Law { lambda: highest / alone, sigma: contention / alone, kappa: coherency / alone })
}

/// Parameters of the linear form: 1/λ, σ/λ, κ/λ.
type Parameters = [f64; 3];

/// The linear form, throughputs being in units of the highest.
struct Problem {
    /// 1, N − 1 and N(N − 1) of each point, as far as they are fitted.
    terms: DMatrix<f64>,
    /// N/X of each point.
    measured: DVector<f64>,
}

impl Problem {
    fn new(points: &[(f64, f64)], unit: f64, parameters: usize) -> Self {
        let term = |row: usize, column: usize| {
            let cores: f64 = points[row].0;
            [1.0, cores - 1.0, cores * (cores - 1.0)][column]
        };
        Self {
            terms: DMatrix::from_fn(points.len(), parameters, term),
            measured: DVector::from_fn(points.len(), |row, _| {
                points[row].0 / (points[row].1 / unit)
            }),
        }
    }

    fn solve(&self) -> Parameters {
        // The first step's errors are shares of the measured N/X.
        let mut best = self.least_squares(&self.measured, &self.measured);
        let mut error = self.error(&best);
        for _ in 0..MOST_STEPS {
            let now = self.values(&best);
            // Where the logarithm, linear around `now`, meets that of what was measured.
            let aim = now
                .zip_map(&self.measured, |now, measured| now * (1.0 + libm::log(measured / now)));
            let Some((next, less)) = self.downhill(&best, error, self.least_squares(&aim, &now))
            else {
                break;
            };
            let gain = error - less;
            (best, error) = (next, less);
            if gain <= LEAST_GAIN * error {
                break;
            }
        }
        best
    }

    /// The first of the points halfway, a quarter of the way and so on to `aim` that is better.
    fn downhill(
        &self,
        from: &Parameters,
        error: f64,
        aim: Parameters,
    ) -> Option<(Parameters, f64)> {
        let mut share = 1.0;
        for _ in 0..MOST_HALVINGS {
            let next: Parameters = std::array::from_fn(|i| from[i] + share * (aim[i] - from[i]));
            let less = self.error(&next);
            if less < error {
                return Some((next, less));
            }
            share /= 2.0;
        }
        None
    }

    fn values(&self, parameters: &Parameters) -> DVector<f64> {
        &self.terms * DVector::from_column_slice(&parameters[..self.terms.ncols()])
    }

    /// The sum of the squared errors of the logarithm.
    fn error(&self, parameters: &Parameters) -> f64 {
        let values = self.values(parameters);
        values.zip_map(&self.measured, |now, measured| libm::log(measured / now)).norm_squared()
    }

    /// The parameters within their bounds that bring the linear form closest to `aim`, errors being
    /// divided by `scale`. All choices of parameters that lie on their bounds are tried: there are
    /// few.
    fn least_squares(&self, aim: &DVector<f64>, scale: &DVector<f64>) -> Parameters {
        let columns = self.terms.ncols();
        let bounds = [1.0 / MOST_ALONE, 0.0, 0.0];
        let weighed = DMatrix::from_fn(self.terms.nrows(), columns, |row, column| {
            self.terms[(row, column)] / scale[row]
        });
        let at_bounds = aim.component_div(scale) - weighed.column(0) * bounds[0];
        let (mut best, mut least) = (bounds, at_bounds.norm_squared());
        for free in 1..1_usize << columns {
            let chosen: Vec<usize> =
                (0..columns).filter(|column| free >> column & 1 == 1).collect();
            // Columns of length 1 keep the system well-conditioned.
            let lengths: Vec<f64> =
                chosen.iter().map(|&column| weighed.column(column).norm()).collect();
            let matrix = DMatrix::from_fn(weighed.nrows(), chosen.len(), |row, column| {
                weighed[(row, chosen[column])] / lengths[column]
            });
            let Ok(above) = matrix.clone().svd(true, true).solve(&at_bounds, 1e-12) else {
                continue;
            };
            let error = (&at_bounds - matrix * &above).norm_squared();
            if above.iter().all(|&value| value >= 0.0) && error < least {
                least = error;
                best = bounds;
                for (i, &column) in chosen.iter().enumerate() {
                    best[column] += above[i] / lengths[i];
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::{Law, fit};

    fn points_of(law: Law, cores: &[u32]) -> Vec<(f64, f64)> {
        cores.iter().map(|&n| (f64::from(n), law.at(f64::from(n)))).collect()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-6 * (1.0 + b.abs())
    }

    #[test]
    fn a_law_is_found_again_from_its_own_points_in_any_unit() {
        for lambda in [1e-9, 0.02, 995.0, 3e12] {
            let law = Law { lambda, sigma: 0.03, kappa: 0.0007 };
            let found = fit(&points_of(law, &[1, 4, 8, 16, 48])).expect("a fit");
            assert!(close(found.lambda / lambda, 1.0), "{found:?}");
            assert!(close(found.sigma, 0.03) && close(found.kappa, 0.0007), "{found:?}");
            let peak = found.peak().expect("a peak");
            assert!(close(peak, (0.97_f64 / 0.0007).sqrt()), "{peak}");
        }
    }

    #[test]
    fn three_points_settle_three_parameters() {
        let law = Law { lambda: 10.0, sigma: 0.2, kappa: 0.01 };
        let found = fit(&points_of(law, &[6, 12, 24])).expect("a fit");
        assert!(close(found.kappa, 0.01) && close(found.sigma, 0.2), "{found:?}");
    }

    #[test]
    fn two_core_counts_leave_coherency_out() {
        let found = fit(&[(6.0, 5.0), (12.0, 7.0), (12.0, 7.2)]).expect("a fit");
        assert_eq!(found.kappa, 0.0);
        assert!(close(found.at(6.0), 5.0), "{found:?}");
        // The geometric mean of the two, as errors are those of logarithms.
        assert!(close(found.at(12.0), (7.0_f64 * 7.2).sqrt()), "{found:?}");
        assert_eq!(found.peak(), None);
    }

    #[test]
    fn one_core_count_or_points_that_are_none_give_nothing() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(6.0, 5.0), (6.0, 6.0)]), None);
        for wrong in [(0.0, 1.0), (2.0, 0.0), (2.0, -1.0), (2.0, f64::NAN), (f64::INFINITY, 1.0)] {
            assert_eq!(fit(&[(1.0, 1.0), (4.0, 2.0), wrong]), None, "{wrong:?}");
        }
    }

    #[test]
    fn no_parameter_is_negative_whatever_the_curve() {
        let superlinear = [(1.0, 1.0), (2.0, 2.3), (4.0, 5.0), (8.0, 12.0)];
        let found = fit(&superlinear).expect("a fit");
        assert_eq!((found.sigma, found.kappa), (0.0, 0.0));
        let steep = [(6.0, 100.0), (12.0, 10.0), (24.0, 1.0), (48.0, 0.1)];
        let found = fit(&steep).expect("a fit");
        assert!(found.lambda <= 1000.0 + 1e-6 && found.sigma >= 0.0, "{found:?}");
        assert!(found.kappa > 0.0 && found.at(48.0) < found.at(6.0), "{found:?}");
        assert!(found.peak().is_some_and(|peak| (1.0..6.0).contains(&peak)), "{found:?}");
        let flat = fit(&[(1.0, 3.0), (8.0, 3.0), (64.0, 3.0)]).expect("a fit");
        assert!(close(flat.sigma, 1.0) && close(flat.at(1000.0), 3.0), "{flat:?}");
    }

    #[test]
    fn errors_count_as_shares() {
        // A fifth more than the law and as much less, everywhere: the law between them.
        let law = Law { lambda: 1.0, sigma: 0.1, kappa: 0.001 };
        let mut points = points_of(law, &[1, 2, 4, 8, 16, 32, 64]);
        let noisy: Vec<(f64, f64)> = points.iter().map(|p| (p.0, p.1 / 1.2)).collect();
        points.iter_mut().for_each(|point| point.1 *= 1.2);
        points.extend(noisy);
        let found = fit(&points).expect("a fit");
        for n in [1.0, 8.0, 64.0] {
            assert!(close(found.at(n) / law.at(n), 1.0), "{found:?}");
        }
    }
}
