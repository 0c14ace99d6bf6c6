//! What charts draw against cores, and how it is written.

use std::fmt::Write;

use kilocore_predict::ForecastPoint;

use crate::curve_set::Drawn;
use crate::number;
use crate::scale::Growth;

/// A quantity that is drawn against cores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity {
    /// What the axis is labelled.
    pub(crate) name: &'static str,
    /// The figure of a point.
    pub(crate) of: fn(&ForecastPoint) -> f64,
    /// How it is written.
    pub(crate) written: fn(f64) -> String,
    /// Whether it is throughput, which alone has a band and a line of linear scaling.
    pub(crate) throughput: bool,
    /// The highest end that the axis may have.
    pub(crate) limit: f64,
    /// How its axis grows where that of cores is linear.
    pub(crate) growth: Growth,
    /// What hovering over a point tells.
    pub(crate) hover: fn(&Drawn<'_>, &ForecastPoint) -> String,
}

/// Throughput, with its band.
pub(crate) const THROUGHPUT: Quantity = Quantity {
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
pub(crate) const FITTED: Quantity = Quantity {
    name: "throughput, in the unit of the measurements",
    written: number::figure,
    hover: hover_fitted,
    ..THROUGHPUT
};
/// Share of the threads' time spent waiting for a lock.
pub(crate) const WAITING: Quantity = Quantity {
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
pub(crate) const ENERGY: Quantity = Quantity {
    name: "energy per section",
    of: |p| p.point.joules_per_op,
    written: number::joules,
    throughput: false,
    limit: f64::INFINITY,
    growth: Growth::Logarithmic,
    hover,
};

/// What hovering over a point tells.
fn hover(drawn: &Drawn<'_>, p: &ForecastPoint) -> String {
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
fn hover_fitted(drawn: &Drawn<'_>, p: &ForecastPoint) -> String {
    format!(
        "{} on {} cores\n{} forecast (band {} to {})",
        drawn.curve.lock,
        p.point.cores,
        number::figure(p.point.throughput_per_s),
        number::figure(p.low),
        number::figure(p.high),
    )
}
