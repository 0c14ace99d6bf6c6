//! What a report is made from.

use kilocore_forecast::fit::{Outlook, OutlookCurve};
use kilocore_forecast::{Curve, Forecast};
use kilocore_lock_profile::Profile;
use kilocore_machine::Description;
use kilocore_show::{Generated, Mark, Provenance};
use serde::Serialize;

use crate::marks::measured_on;

/// A forecast and what it was made from.
#[derive(Debug, Clone, Serialize)]
pub struct ForecastReport<'a> {
    /// By whom, how and when.
    pub generated: Generated,
    /// The forecast that is shown.
    pub forecast: &'a Forecast,
    /// The machine it is for, in full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<&'a Description>,
    /// The profile it is made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<&'a Profile>,
}

impl ForecastReport<'_> {
    /// The mark of the simulated figures.
    #[must_use]
    pub fn simulated(&self) -> Mark {
        Mark::simulated(&self.forecast.machine.name, self.forecast.seed)
    }

    /// The mark of the measured ones.
    #[must_use]
    pub fn measured(&self) -> Mark {
        self.profile.map_or_else(
            || Mark::new(Provenance::Measured, "on the profiled host"),
            |profile| measured_on(&profile.host),
        )
    }
}

/// Simulated curves of a workload that was given by hand.
#[derive(Debug, Clone)]
pub struct CurvesReport<'a> {
    /// By whom, how and when.
    pub generated: Generated,
    /// The machine on which the curves were simulated.
    pub machine: &'a Description,
    /// The workload in words: `threads think 20,000 cycles and hold one lock for 400`.
    pub workload: String,
    /// Seed of the simulations.
    pub seed: u64,
    /// One for each lock.
    pub curves: &'a [Curve],
}

impl CurvesReport<'_> {
    /// The mark of the simulated figures.
    #[must_use]
    pub fn simulated(&self) -> Mark {
        Mark::simulated(&self.machine.name, self.seed)
    }
}

/// What a fit has to say, and for which machine.
#[derive(Debug, Clone, Serialize)]
pub struct FitReport<'a> {
    /// By whom, how and when.
    pub generated: Generated,
    /// The fit: the advice, the parameters and the forecast points.
    #[serde(flatten)]
    pub outlook: &'a Outlook,
    /// Its curves, from [`Outlook::curves`].
    #[serde(skip)]
    pub curves: &'a [OutlookCurve],
    /// The machine it is for, in full.
    #[serde(rename = "machine_file")]
    pub machine: &'a Description,
}

impl FitReport<'_> {
    /// The mark of the forecast figures.
    #[must_use]
    pub fn simulated(&self) -> Mark {
        Mark::simulated(&self.outlook.machine, self.outlook.seed)
    }

    /// The name of the curve that advice recommends.
    pub(crate) fn recommended(&self) -> &str {
        let advice = &self.outlook.recommendation;
        advice.alias.unwrap_or(advice.lock)
    }
}

/// Any report that has curves.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CurveReport<'a> {
    /// A forecast for a program.
    Forecast(&'a ForecastReport<'a>),
    /// Curves without a forecast for a program.
    Curves(&'a CurvesReport<'a>),
    /// Forecasts from measured throughputs.
    Fit(&'a FitReport<'a>),
}

impl<'a> From<&'a ForecastReport<'a>> for CurveReport<'a> {
    fn from(report: &'a ForecastReport<'a>) -> Self {
        CurveReport::Forecast(report)
    }
}

impl<'a> From<&'a CurvesReport<'a>> for CurveReport<'a> {
    fn from(report: &'a CurvesReport<'a>) -> Self {
        CurveReport::Curves(report)
    }
}

impl<'a> From<&'a FitReport<'a>> for CurveReport<'a> {
    fn from(report: &'a FitReport<'a>) -> Self {
        CurveReport::Fit(report)
    }
}

impl<'a> CurveReport<'a> {
    /// The mark of the simulated figures of any.
    pub(crate) fn simulated(self) -> Mark {
        match self {
            CurveReport::Forecast(report) => report.simulated(),
            CurveReport::Curves(report) => report.simulated(),
            CurveReport::Fit(report) => report.simulated(),
        }
    }

    /// The name of the machine.
    pub(crate) fn machine_name(self) -> &'a str {
        match self {
            CurveReport::Forecast(report) => &report.forecast.machine.name,
            CurveReport::Curves(report) => &report.machine.name,
            CurveReport::Fit(report) => &report.machine.name,
        }
    }

    /// The seed of the simulations.
    pub(crate) fn seed(self) -> u64 {
        match self {
            CurveReport::Forecast(report) => report.forecast.seed,
            CurveReport::Curves(report) => report.seed,
            CurveReport::Fit(report) => report.outlook.seed,
        }
    }
}
