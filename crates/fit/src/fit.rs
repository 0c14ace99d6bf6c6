//! Weighing workloads by measurements, and forecasting with all that are left.

use kilocore_locks::LockId;
use kilocore_predict::Workload;
use serde::Serialize;
use thiserror::Error;

use crate::{Atlas, Measurements};

/// What is known beforehand of a workload: from a profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraints {
    /// The workload as profiled, in cycles of the machine: its locks, their shares and the ratio
    /// of hold to think are kept; how long all of it takes is not.
    pub workload: Workload,
}

/// A forecast throughput with its band, in the unit of the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The median of all workloads that explain the measurements.
    pub throughput: f64,
    /// The lower end of the band, which should hold the true value nine times in ten.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// A workload that explains the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plausible {
    /// Its share of the whole weight.
    pub weight: f64,
    /// What it is, parameter by parameter.
    pub parameters: Vec<(&'static str, f64)>,
}

/// How well the measurements pin one parameter of the workload down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pinned {
    /// The parameter, with its unit.
    pub parameter: &'static str,
    /// The weighted median over all workloads that explain the measurements.
    pub median: f64,
    /// Their 5 % quantile.
    pub low: f64,
    /// Their 95 % quantile.
    pub high: f64,
    /// How much of what was possible beforehand is still possible: 1 if the measurements say
    /// nothing of this parameter, near 0 if they give it away.
    pub left: f64,
}

/// Why no forecast is given.
#[derive(Debug, Error)]
pub enum Refusal {
    /// Too few points.
    #[error("{0}")]
    TooLittle(String),
    /// No workload explains the measurements.
    #[error("{0}")]
    Unexplained(String),
    /// A simulation failed.
    #[error(transparent)]
    Simulation(#[from] kilocore_predict::PointError),
}

/// All workloads that explain the measurements.
#[derive(Debug)]
pub struct Fit {
    _private: (),
}

/// Weighs the workloads of `atlas` by `measurements`.
///
/// `progress` is told how many simulations are done and how many are known to be needed, from any
/// thread.
///
/// # Errors
/// [`Refusal`] if the measurements do not allow a forecast.
pub fn fit(
    atlas: &Atlas<'_>,
    measurements: &Measurements,
    constraints: Option<&Constraints>,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Fit, Refusal> {
    let _ = (atlas, measurements, constraints, progress);
    Err(Refusal::TooLittle("not there yet".to_owned()))
}

impl Fit {
    /// Forecasts throughputs, in the order of `wanted`.
    ///
    /// # Errors
    /// [`Refusal::Simulation`] if a point cannot be simulated.
    pub fn forecast(
        &self,
        atlas: &Atlas<'_>,
        wanted: &[(LockId, u32)],
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Vec<Estimate>, Refusal> {
        let _ = (atlas, wanted, progress);
        Ok(Vec::new())
    }

    /// The workloads, the weightiest first.
    #[must_use]
    pub fn plausible(&self) -> Vec<Plausible> {
        Vec::new()
    }

    /// How well each parameter is pinned down.
    #[must_use]
    pub fn pinned(&self) -> Vec<Pinned> {
        Vec::new()
    }

    /// The root mean square of the relative residuals of the given points.
    #[must_use]
    pub fn residual(&self) -> f64 {
        0.0
    }
}
