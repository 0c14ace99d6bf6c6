//! The degradation matrix of the thesis: by how much tasks slow each other down in pairs.

use crate::occupancy::hardware::Hardware;
use crate::occupancy::phase::Phase;
use crate::occupancy::settled::settled;

/// `at(i, j)`: how many times as long j takes beside i, on two cores of one last-level cache, as
/// alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    size: usize,
    alone: Vec<f64>,
    slowdown: Vec<f64>,
}

impl Matrix {
    /// The matrix of these phases on a machine.
    ///
    /// # Panics
    /// If no two hardware threads share a last-level cache.
    #[must_use]
    pub fn new(hardware: &Hardware, phases: &[Phase]) -> Self {
        let beside = (1..hardware.threads())
            .find(|&thread| hardware.cache_of(thread) == hardware.cache_of(0))
            .expect("two hardware threads that share a last-level cache");
        let size = phases.len();
        let alone: Vec<f64> =
            phases.iter().map(|phase| settled(hardware, &[(0, phase)])[0]).collect();
        let mut slowdown = vec![1.0; size * size];
        for i in 0..size {
            for j in i..size {
                let speeds = settled(hardware, &[(0, &phases[i]), (beside, &phases[j])]);
                slowdown[i * size + j] = alone[j] / speeds[1];
                slowdown[j * size + i] = alone[i] / speeds[0];
            }
        }
        Self { size, alone, slowdown }
    }

    /// How many times as long task `j` takes beside `i` as alone.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.slowdown[i * self.size + j]
    }

    /// Instructions per cycle of a task alone.
    #[must_use]
    pub fn alone(&self, task: usize) -> f64 {
        self.alone[task]
    }

    /// How much a task slows the others down: the mean of its row, less 1.
    #[must_use]
    pub fn intensity(&self, task: usize) -> f64 {
        self.mean(|other| self.at(task, other))
    }

    /// How much the others slow a task down: the mean of its column, less 1.
    #[must_use]
    pub fn sensitivity(&self, task: usize) -> f64 {
        self.mean(|other| self.at(other, task))
    }

    #[expect(clippy::cast_precision_loss, reason = "a few tasks")]
    fn mean(&self, of: impl Fn(usize) -> f64) -> f64 {
        (0..self.size).map(|other| of(other) - 1.0).sum::<f64>() / self.size as f64
    }
}

/// Pearson's coefficient of correlation: from −1 to 1, or 0 if either list does not vary.
///
/// # Panics
/// If the lists are of different lengths.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a few values")]
pub fn correlation(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len(), "pairs of values");
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len().max(1) as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (a, b) in x.iter().zip(y) {
        let (a, b) = (a - mean_x, b - mean_y);
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    let norm = (xx * yy).sqrt();
    if norm > 0.0 { xy / norm } else { 0.0 }
}
