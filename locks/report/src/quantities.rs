//! What charts draw against cores, and how it is written.

use std::fmt::Write;

use kilocore_forecast::ForecastPoint;
use kilocore_forecast::fit::OutlookPoint;
use kilocore_show::drawn::Drawn;
use kilocore_show::scale::Growth;
use kilocore_show::{Quantity, number};

/// Throughput, with its band.
pub(crate) const THROUGHPUT: Quantity<ForecastPoint> = Quantity {
    name: "throughput, sections per second",
    of: |p| p.point.throughput_per_s,
    written: number::per_second,
    band: Some(|p| (p.low, p.high)),
    limit: f64::INFINITY,
    growth: Growth::Linear,
    hover,
};
/// Throughput as a fit forecasts it: in the unit in which it was measured, with its band and
/// nothing beside.
pub(crate) const FITTED: Quantity<OutlookPoint> = Quantity {
    name: "throughput, in the unit of the measurements",
    of: |p| p.throughput,
    written: number::figure,
    band: Some(|p| (p.low, p.high)),
    limit: f64::INFINITY,
    growth: Growth::Linear,
    hover: hover_fitted,
};
/// Share of the threads' time spent waiting for a lock.
pub(crate) const WAITING: Quantity<ForecastPoint> = Quantity {
    name: "share of the threads' time spent waiting",
    of: |p| p.point.wait_share,
    written: number::percent,
    band: None,
    limit: 1.0,
    growth: Growth::Linear,
    hover,
};
/// Energy for each section. A lock that collapses takes many times what the others do, among which
/// there is more to see.
pub(crate) const ENERGY: Quantity<ForecastPoint> = Quantity {
    name: "energy per section",
    of: |p| p.point.joules_per_op,
    written: number::joules,
    band: None,
    limit: f64::INFINITY,
    growth: Growth::Logarithmic,
    hover,
};

/// What hovering over a point tells.
fn hover(drawn: &Drawn<'_, ForecastPoint>, p: &ForecastPoint) -> String {
    let mut text = format!("{} on {} cores", drawn.curve.lock, p.point.cores);
    if p.point.threads != p.point.cores {
        _ = write!(text, ", {} threads", p.point.threads);
    }
    _ = write!(
        text,
        "\n{} (band {} to {})\nwaiting {}, {} per section",
        number::per_second(p.point.throughput_per_s),
        number::per_second(p.low),
        number::per_second(p.high),
        number::percent(p.point.wait_share),
        number::joules(p.point.joules_per_op),
    );
    text
}

/// The same of a forecast from measurements.
fn hover_fitted(drawn: &Drawn<'_, OutlookPoint>, p: &OutlookPoint) -> String {
    format!(
        "{} on {} cores\n{} forecast (band {} to {})",
        drawn.curve.lock,
        p.cores,
        number::figure(p.throughput),
        number::figure(p.low),
        number::figure(p.high),
    )
}
