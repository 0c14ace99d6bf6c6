//! The error of the model: what it leaves unexplained.
//!
//! No mixture is the program. The logarithm of a measured throughput is modelled as that of the
//! mixture plus a Gaussian process (Kennedy and O'Hagan, 'Bayesian calibration of computer
//! models', 2001). The process is smooth over the logarithm of the cores. One part of it is common
//! to all locks. Another part is each lock's own, and the lock shares most of that part with its
//! relatives. The own part grows with the share of time that the mixture spends waiting for locks,
//! because the lock does not matter where threads do not wait. The size of the process is weighed
//! together with the mixtures: a program that the model explains well gets a narrow band, another
//! program a wide one. A constant of unknown size, the unit, is part of the process.
//!
//! The figures below are the same for all programs, locks and machines.

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use kilocore_locks::LockId;

use crate::fit::waiting_style::waiting_style;

/// Standard deviations of the common part that are tried, in logarithms of throughput.
pub(crate) const LEVELS: [f64; 5] = [0.03, 0.06, 0.12, 0.25, 0.5];
/// The standard deviation of a measurement, as a share of itself.
const NOISE: f64 = 0.03;
/// The variance of the unit's logarithm. It is large, because any unit is possible.
const UNIT_VARIANCE: f64 = 100.0;
/// The distance over which errors become unrelated, in logarithms of cores: a factor of e.
const LENGTH: f64 = 1.0;
/// A lock's own part, relative to the common one, where no thread waits for a lock.
const OWN_WITHOUT_WAITING: f64 = 0.3;
/// The correlation between the own parts of relatives.
const AMONG_RELATIVES: f64 = 0.8;
/// What is added to the own part where all threads wait all the time.
const OWN_FOR_WAITING: f64 = 1.5;

/// A place on which errors depend: the lock, the cores and how much the lock matters there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorPoint {
    pub(crate) lock: LockId,
    pub(crate) log_cores: f64,
    /// The share of the threads' time in which they wait for locks.
    pub(crate) waiting: f64,
}

impl ErrorPoint {
    fn own(&self) -> f64 {
        OWN_WITHOUT_WAITING + OWN_FOR_WAITING * self.waiting
    }
}

/// The covariance of the errors at `a` and `b`, for a level of the process.
fn covariance(level: f64, a: &ErrorPoint, b: &ErrorPoint) -> f64 {
    let apart = (a.log_cores - b.log_cores) / LENGTH;
    let alike = match () {
        () if a.lock == b.lock => 1.0,
        () if waiting_style(a.lock) == waiting_style(b.lock) => AMONG_RELATIVES,
        () => 0.0,
    };
    let own = alike * a.own() * b.own();
    UNIT_VARIANCE + level * level * libm::exp(-0.5 * apart * apart) * (1.0 + own)
}

/// The process, conditioned on errors at some places.
#[derive(Debug)]
pub(crate) struct Process {
    level: f64,
    places: Vec<ErrorPoint>,
    factor: Cholesky<f64, Dyn>,
    log_determinant: f64,
}

impl Process {
    /// The process, ready to be told errors at `places`.
    pub(crate) fn new(level: f64, places: Vec<ErrorPoint>) -> Self {
        let n = places.len();
        let matrix = DMatrix::from_fn(n, n, |row, column| {
            let noise = if row == column { NOISE * NOISE } else { 0.0 };
            covariance(level, &places[row], &places[column]) + noise
        });
        let factor = Cholesky::new(matrix).expect("a covariance with noise is positive definite");
        let log_determinant =
            factor.l_dirty().diagonal().iter().map(|&value| 2.0 * libm::log(value)).sum();
        Self { level, places, factor, log_determinant }
    }

    /// The logarithm of the likelihood of `errors` at the places, up to a constant.
    pub(crate) fn log_likelihood(&self, errors: &DVector<f64>, room: &mut DVector<f64>) -> f64 {
        room.copy_from(errors);
        self.factor.l_dirty().solve_lower_triangular_mut(room);
        -0.5 * (room.norm_squared() + self.log_determinant)
    }

    /// Returns what `errors` at the places say of the error at each of `others`: its mean and its
    /// variance, which includes that of a measurement.
    pub(crate) fn expect(&self, errors: &DVector<f64>, others: &[ErrorPoint]) -> Vec<(f64, f64)> {
        let solved = self.factor.solve(errors);
        let expect = |other: &ErrorPoint| {
            let mut across = DVector::from_iterator(
                self.places.len(),
                self.places.iter().map(|place| covariance(self.level, place, other)),
            );
            let mean = across.dot(&solved);
            self.factor.l_dirty().solve_lower_triangular_mut(&mut across);
            let left = covariance(self.level, other, other) - across.norm_squared();
            (mean, left.max(0.0) + NOISE * NOISE)
        };
        others.iter().map(expect).collect()
    }
}
