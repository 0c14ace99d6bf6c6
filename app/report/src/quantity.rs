//! What charts draw against cores, and how it is written.

use std::fmt::Write;

use kilocore_predict::ForecastPoint;
use kilocore_predict::fit::OutlookPoint;

use crate::drawn::Drawn;
use crate::number;
use crate::scale::Growth;

/// A quantity that is drawn against cores.
#[derive(Debug)]
pub(crate) struct Quantity<P> {
    /// What the axis is labelled.
    pub(crate) name: &'static str,
    /// The figure of a point.
    pub(crate) of: fn(&P) -> f64,
    /// How it is written.
    pub(crate) written: fn(f64) -> String,
    /// Whether it is throughput, which alone has a band and a line of linear scaling.
    pub(crate) throughput: bool,
    /// The highest end that the axis may have.
    pub(crate) limit: f64,
    /// How its axis grows where that of cores is linear.
    pub(crate) growth: Growth,
    /// What hovering over a point tells.
    pub(crate) hover: fn(&Drawn<'_, P>, &P) -> String,
}

/// Throughput, with its band.
pub(crate) const THROUGHPUT: Quantity<ForecastPoint> = Quantity {
    name: "throughput, sections per second",
    of: |p| p.point.throughput_per_s,
    written: number::per_second,
    throughput: true,
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
    throughput: true,
    limit: f64::INFINITY,
    growth: Growth::Linear,
    hover: hover_fitted,
};
/// Share of the threads' time spent waiting for a lock.
pub(crate) const WAITING: Quantity<ForecastPoint> = Quantity {
    name: "share of the threads' time spent waiting",
    of: |p| p.point.wait_share,
    written: number::percent,
    throughput: false,
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
    throughput: false,
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
