//! The universal scalability law, fitted to a few points.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)). N/X is linear in 1/λ, σ/λ and κ/λ, so that the law of
//! least relative squared error is found by linear least squares for each choice of parameters
//! that are not zero; none may be below it.

use nalgebra::{DMatrix, DVector};

/// A law that has been fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Law {
    /// 1/λ, σ/λ and κ/λ.
    terms: [f64; 3],
}

/// Which of the three parameters may be above zero, the simpler law first.
const CHOICES: [&[usize]; 4] = [&[0], &[0, 1], &[0, 2], &[0, 1, 2]];
/// How much smaller the squared error must be for a law that is less simple.
const WORTH: f64 = 1e-9;

/// The law through points of cores and throughput; none for fewer than two.
pub(crate) fn fit(points: &[(f64, f64)]) -> Option<Law> {
    if points.len() < 2 {
        return None;
    }
    let mut best: Option<(f64, Law)> = None;
    for choice in CHOICES.into_iter().filter(|choice| choice.len() <= points.len()) {
        let Some((error, law)) = fit_terms(points, choice) else { continue };
        if best.is_none_or(|(least, _)| error < least - WORTH) {
            best = Some((error, law));
        }
    }
    best.map(|(_, law)| law)
}

fn fit_terms(points: &[(f64, f64)], choice: &[usize]) -> Option<(f64, Law)> {
    let row = |&(cores, throughput): &(f64, f64)| basis(cores).map(|b| b * throughput / cores);
    let rows: Vec<[f64; 3]> = points.iter().map(row).collect();
    let matrix = DMatrix::from_fn(points.len(), choice.len(), |i, j| rows[i][choice[j]]);
    let ones = DVector::from_element(points.len(), 1.0);
    let found = matrix.clone().svd(true, true).solve(&ones, 1e-12).ok()?;
    let mut terms = [0.0; 3];
    for (&term, &value) in choice.iter().zip(found.iter()) {
        terms[term] = value;
    }
    let allowed = terms[0] > 0.0 && terms.iter().all(|&term| term >= 0.0);
    allowed.then(|| ((matrix * found - ones).norm_squared(), Law { terms }))
}

/// What N/X is a sum of.
fn basis(cores: f64) -> [f64; 3] {
    [1.0, cores - 1.0, cores * (cores - 1.0)]
}

impl Law {
    /// The throughput on some cores.
    pub(crate) fn at(&self, cores: f64) -> f64 {
        let sum: f64 = basis(cores).iter().zip(&self.terms).map(|(b, t)| b * t).sum();
        cores / sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a / b - 1.0).abs() < 1e-6
    }

    #[test]
    fn a_law_is_found_from_its_own_points() {
        let truth = Law { terms: [0.5, 0.02, 0.001] };
        let points = [6.0, 12.0, 24.0].map(|n| (n, truth.at(n)));
        let law = fit(&points).expect("three points are enough");
        assert!(close(law.at(48.0), truth.at(48.0)), "{law:?}");
    }

    #[test]
    fn two_points_give_contention_alone_and_one_gives_nothing() {
        let truth = Law { terms: [0.5, 0.02, 0.0] };
        let law = fit(&[6.0, 12.0].map(|n| (n, truth.at(n)))).expect("two points are enough");
        assert!(close(law.at(48.0), truth.at(48.0)), "{law:?}");
        assert_eq!(fit(&[(6.0, 1.0)]), None);
    }

    #[test]
    fn growth_beyond_linear_is_taken_for_linear() {
        let law = fit(&[(6.0, 6.0), (12.0, 13.0), (24.0, 28.0)]).expect("there is always a law");
        assert!(law.at(48.0) / law.at(24.0) < 2.0 + 1e-9);
        assert!(law.terms.iter().all(|&t| t >= 0.0));
    }
}
