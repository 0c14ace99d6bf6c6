//! The matrix: the Laplacian of a grid with random weights.
//!
//! Neighbours on the grid are coupled by a random weight, and a point at the border is coupled to
//! the ground as well. So the matrix is symmetric and positive definite. It stays in plain memory:
//! the factorization works on a copy in the platform's memory, and the check compares with this.

use crate::numa_programs::random::Random;

/// A symmetric matrix with its columns in the order of elimination.
pub(super) struct Matrix {
    pub(super) diagonal: Vec<f64>,
    /// For each column the rows below the diagonal, in order, with their values.
    pub(super) below: Vec<Vec<(u32, f64)>>,
}

impl Matrix {
    /// The matrix of a grid whose points are eliminated in that order.
    pub(super) fn of_grid(grid: [usize; 3], order: &[usize], seed: u64) -> Self {
        let mut column_of = vec![0; order.len()];
        for (column, &point) in order.iter().enumerate() {
            column_of[point] = column;
        }
        let mut random = Random::new(seed, 0);
        let mut diagonal = vec![0.0; order.len()];
        let mut below = vec![Vec::new(); order.len()];
        for (point, &column) in column_of.iter().enumerate() {
            let place = [point % grid[0], point / grid[0] % grid[1], point / (grid[0] * grid[1])];
            let mut distance = 1;
            for (at, points) in place.into_iter().zip(grid) {
                // Each end of a line of points is coupled to the ground.
                let ends = f64::from(u8::from(at == 0)) + f64::from(u8::from(at + 1 == points));
                diagonal[column] += ends;
                if at + 1 < points {
                    let other = column_of[point + distance];
                    let weight = 0.5 + random.uniform();
                    diagonal[column] += weight;
                    diagonal[other] += weight;
                    below[column.min(other)].push((column.max(other) as u32, -weight));
                }
                distance *= points;
            }
        }
        for column in &mut below {
            column.sort_unstable_by_key(|&(row, _)| row);
        }
        Self { diagonal, below }
    }

    pub(super) fn columns(&self) -> usize {
        self.diagonal.len()
    }

    /// The product with a vector.
    pub(super) fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product: Vec<f64> =
            self.diagonal.iter().zip(vector).map(|(value, x)| value * x).collect();
        for (column, below) in self.below.iter().enumerate() {
            for &(row, value) in below {
                product[row as usize] += value * vector[column];
                product[column] += value * vector[row as usize];
            }
        }
        product
    }

    /// The Frobenius norm of the whole matrix, of which one half is kept.
    pub(super) fn norm(&self) -> f64 {
        let diagonal: f64 = self.diagonal.iter().map(|value| value * value).sum();
        let below: f64 = self.below.iter().flatten().map(|(_, value)| value * value).sum();
        (diagonal + 2.0 * below).sqrt()
    }
}
