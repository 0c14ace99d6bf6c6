//! Whether the factor is one, and solves a system.
//!
//! The product of the factor with its transpose is not formed. Instead both sides are multiplied by
//! random vectors of signs. A wrong value in the factor changes the product with each of them, and
//! the mean square of the difference is the square of its Frobenius norm.

use kilocore_platform::Platform;

use super::summary::Summary;
use super::{Cholesky, Panel};
use crate::numa_programs::error::{WrongResult, bounded};
use crate::numa_programs::random::Random;

/// Random vectors that are tried.
const VECTORS: u32 = 8;
/// The most that the factor's product may be off, as a part of the matrix: some thousand roundings.
const RESIDUAL: f64 = 1e-12;
/// The most that a solution may be off, whose elements are 1.
const SOLUTION: f64 = 1e-9;

/// A factor in plain memory: for each column its rows with values, the diagonal first.
struct Factor(Vec<Vec<(usize, f64)>>);

pub(super) fn check<P: Platform>(cholesky: &Cholesky<P>) -> Result<Summary, WrongResult> {
    for (index, panel) in cholesky.panels.iter().enumerate() {
        let found = f64::from(panel.awaited.get());
        if found != 0.0 {
            return Err(WrongResult::Differs {
                what: "updates due to panel",
                index,
                found,
                wanted: 0.0,
            });
        }
    }
    let factor = Factor::of(cholesky);
    let residual = residual(cholesky, &factor);
    bounded("the factor's residual", residual, 0.0, RESIDUAL)?;
    let right = cholesky.matrix.times(&vec![1.0; factor.0.len()]);
    let solution = factor.solve(right);
    let solution_error = solution.iter().fold(0.0, |worst: f64, x| worst.max((x - 1.0).abs()));
    bounded("the solution's error", solution_error, 0.0, SOLUTION)?;
    Ok(Summary {
        columns: factor.0.len(),
        panels: cholesky.panels.len(),
        values: factor.0.iter().map(Vec::len).sum(),
        residual,
        solution_error,
        log_determinant: factor.0.iter().map(|column| 2.0 * column[0].1.ln()).sum(),
    })
}

fn residual<P: Platform>(cholesky: &Cholesky<P>, factor: &Factor) -> f64 {
    let mut random = Random::new(cholesky.seed, 1);
    let mut squares = 0.0;
    for _ in 0..VECTORS {
        let signs: Vec<f64> = factor.0.iter().map(|_| random.sign()).collect();
        let wanted = cholesky.matrix.times(&signs);
        let found = factor.times(&factor.transposed_times(&signs));
        squares += wanted.iter().zip(found).map(|(w, f)| (w - f) * (w - f)).sum::<f64>();
    }
    (squares / f64::from(VECTORS)).sqrt() / cholesky.matrix.norm()
}

impl Factor {
    fn of<P: Platform>(cholesky: &Cholesky<P>) -> Self {
        let columns = |panel: &Panel<P>| {
            let height = panel.height.get() as usize;
            let rows = &cholesky.rows[panel.rows_at.get() as usize..][..height];
            let start = panel.values_at.get() as usize;
            (0..panel.width.get() as usize)
                .map(|column| {
                    let values = &cholesky.values[start + column * height..][..height];
                    let column = rows.iter().zip(values).skip(column);
                    column.map(|(row, value)| (row.get() as usize, value.get())).collect()
                })
                .collect::<Vec<_>>()
        };
        Self(cholesky.panels.iter().flat_map(columns).collect())
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; vector.len()];
        for (column, x) in self.0.iter().zip(vector) {
            for &(row, value) in column {
                product[row] += value * x;
            }
        }
        product
    }

    fn transposed_times(&self, vector: &[f64]) -> Vec<f64> {
        let sum = |column: &Vec<(usize, f64)>| column.iter().map(|&(row, v)| v * vector[row]).sum();
        self.0.iter().map(sum).collect()
    }

    /// Solves the system of the factored matrix.
    fn solve(&self, mut right: Vec<f64>) -> Vec<f64> {
        for (at, column) in self.0.iter().enumerate() {
            right[at] /= column[0].1;
            for &(row, value) in &column[1..] {
                right[row] -= value * right[at];
            }
        }
        for (at, column) in self.0.iter().enumerate().rev() {
            let below: f64 = column[1..].iter().map(|&(row, value)| value * right[row]).sum();
            right[at] = (right[at] - below) / column[0].1;
        }
        right
    }
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;
    use crate::numa_programs::cholesky::Parameters;
    use crate::numa_programs::run::Algorithm;

    #[test]
    fn any_value_that_is_wrong_is_noticed() {
        let cholesky = Cholesky::<Native>::new(Parameters::SMALL, 1, 1);
        cholesky.thread(0);
        let values = check(&cholesky).unwrap().values;
        assert!(values > Parameters::SMALL.grid.iter().product());
        let used: Vec<usize> =
            (0..cholesky.values.len()).filter(|&at| cholesky.values[at].get() != 0.0).collect();
        for at in used.into_iter().step_by(97) {
            let right = cholesky.values[at].get();
            cholesky.values[at].set(right * (1.0 + 1e-6));
            assert!(check(&cholesky).is_err(), "value {at}");
            cholesky.values[at].set(right);
        }
        check(&cholesky).unwrap();
    }

    #[test]
    fn a_factor_that_is_not_complete_is_noticed() {
        let cholesky = Cholesky::<Native>::new(Parameters::SMALL, 1, 1);
        let wrong = check(&cholesky).unwrap_err();
        assert!(matches!(wrong, WrongResult::Differs { .. }), "{wrong}");
    }
}
