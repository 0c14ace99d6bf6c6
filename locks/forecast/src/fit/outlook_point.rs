//! One point of an outlook.

use kilocore_figures::{CurvePoint, LockCurve, Provenance};
use serde::Serialize;

/// The forecast throughput under one lock on one number of cores.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutlookPoint {
    /// The lock's own name.
    pub lock: &'static str,
    /// The name by which the user or a data set knows the lock, if that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<&'static str>,
    /// All its names in data sets.
    pub aliases: &'static [&'static str],
    /// Cores, each with one thread.
    pub cores: u32,
    /// Forecast throughput in the unit of the measurements.
    pub throughput: f64,
    /// The lower end of its band.
    pub low: f64,
    /// The upper end of the band, in the unit of the measurements.
    pub high: f64,
    /// What was measured there, if anything was.
    pub given: Option<f64>,
    /// Always `simulated`: where the forecast comes from.
    pub provenance: Provenance,
    /// Whether it is read off a line between its simulated neighbours, as the curve runs straight there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interpolated: bool,
    /// The name of the curve that the point is part of.
    #[serde(skip)]
    pub name: &'static str,
}

impl CurvePoint for OutlookPoint {
    fn cores(&self) -> u32 {
        self.cores
    }

    fn throughput(&self) -> f64 {
        self.throughput
    }
}

/// Forecast throughput against cores, in the unit of the measurements.
pub type OutlookCurve = LockCurve<OutlookPoint>;
