//! Every point of every curve, a row each, as CSV.

use kilocore_figures::Provenance;
use kilocore_forecast::fit::Outlook;
use kilocore_forecast::{Curve, ForecastPoint};
use kilocore_show::text::printable;
use kilocore_show::{ReportError, in_csv};
use serde::Serialize;

use crate::source::CurveReport;

/// A row: a point, and where it comes from. Names of columns that are figures end in the unit.
#[derive(Debug, Serialize)]
struct PointRow<'a> {
    provenance: Provenance,
    machine: &'a str,
    seed: u64,
    lock: &'a str,
    cores: u32,
    threads: u32,
    throughput_per_s: f64,
    throughput_error_per_s: f64,
    low_per_s: f64,
    high_per_s: f64,
    wait_share: f64,
    joules_per_op: f64,
    working_share: f64,
    stalled_share: f64,
    spinning_share: f64,
    low_power_share: f64,
    system_share: f64,
    idle_share: f64,
    fairness: f64,
}

/// The points of the report as CSV with a line of names.
pub(crate) fn points(document: CurveReport<'_>, curves: &[Curve]) -> Result<String, ReportError> {
    let machine = printable(document.machine_name());
    let points = curves.iter().flat_map(|curve| &curve.points);
    in_csv(points.map(|ForecastPoint { point, low, high }| PointRow {
        provenance: document.simulated().kind,
        machine: &machine,
        seed: document.seed(),
        lock: point.lock,
        cores: point.cores,
        threads: point.threads,
        throughput_per_s: point.throughput_per_s,
        throughput_error_per_s: point.throughput_error_per_s,
        low_per_s: *low,
        high_per_s: *high,
        wait_share: point.wait_share,
        joules_per_op: point.joules_per_op,
        working_share: point.working_share,
        stalled_share: point.stalled_share,
        spinning_share: point.spinning_share,
        low_power_share: point.low_power_share,
        system_share: point.system_share,
        idle_share: point.idle_share,
        fairness: point.fairness,
    }))
}

/// A row of a fit: a forecast, and what was measured there.
#[derive(Debug, Serialize)]
struct FitRow<'a> {
    provenance: Provenance,
    machine: &'a str,
    seed: u64,
    lock: &'a str,
    alias: Option<&'a str>,
    cores: u32,
    throughput: f64,
    low: f64,
    high: f64,
    given: Option<f64>,
}

/// The forecasts of a fit as CSV with a line of names, in the unit of the measurements.
pub(crate) fn fit(outlook: &Outlook) -> Result<String, ReportError> {
    let machine = printable(&outlook.machine);
    in_csv(outlook.points.iter().map(|point| FitRow {
        provenance: point.provenance,
        machine: &machine,
        seed: outlook.seed,
        lock: point.lock,
        alias: point.alias,
        cores: point.cores,
        throughput: point.throughput,
        low: point.low,
        high: point.high,
        given: point.given,
    }))
}
