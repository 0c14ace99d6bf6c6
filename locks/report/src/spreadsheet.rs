//! Every point of every curve, a row each. Names of columns that are figures end in the unit.

use kilocore_forecast::fit::{Outlook, OutlookPoint};
use kilocore_forecast::{Curve, ForecastPoint};
use kilocore_show::text::printable;
use kilocore_show::{Points, Unit};

use crate::source::CurveReport;

/// The points of the report.
pub(crate) fn points(document: CurveReport<'_>, curves: &[Curve]) -> Points {
    Points::of(document.simulated().kind, curves.iter().flat_map(|curve| &curve.points))
        .same("machine", Unit::Name, printable(document.machine_name()))
        .same("seed", Unit::Count, document.seed())
        .each("lock", Unit::Name, |p: &&ForecastPoint| p.point.lock)
        .each("cores", Unit::Count, |p| p.point.cores)
        .each("threads", Unit::Count, |p| p.point.threads)
        .each("throughput_per_s", Unit::PerSecond, |p| p.point.throughput_per_s)
        .each("throughput_error_per_s", Unit::PerSecond, |p| p.point.throughput_error_per_s)
        .each("low_per_s", Unit::PerSecond, |p| p.low)
        .each("high_per_s", Unit::PerSecond, |p| p.high)
        .each("wait_share", Unit::Share, |p| p.point.wait_share)
        .each("joules_per_op", Unit::Joules, |p| p.point.joules_per_op)
        .each("working_share", Unit::Share, |p| p.point.working_share)
        .each("stalled_share", Unit::Share, |p| p.point.stalled_share)
        .each("spinning_share", Unit::Share, |p| p.point.spinning_share)
        .each("low_power_share", Unit::Share, |p| p.point.low_power_share)
        .each("system_share", Unit::Share, |p| p.point.system_share)
        .each("idle_share", Unit::Share, |p| p.point.idle_share)
        .each("fairness", Unit::Ratio, |p| p.point.fairness)
        .build()
}

/// The forecasts of a fit, and what was measured there. Throughputs are in the unit of the
/// measurements, which nobody knows.
pub(crate) fn fit(outlook: &Outlook) -> Points {
    Points::of(outlook.provenance, &outlook.points)
        .same("machine", Unit::Name, printable(&outlook.machine))
        .same("seed", Unit::Count, outlook.seed)
        .each("lock", Unit::Name, |p: &&OutlookPoint| p.lock)
        .each("alias", Unit::Name, |p| p.alias)
        .each("cores", Unit::Count, |p| p.cores)
        .each("throughput", Unit::Ratio, |p| p.throughput)
        .each("low", Unit::Ratio, |p| p.low)
        .each("high", Unit::Ratio, |p| p.high)
        .each("given", Unit::Ratio, |p| p.given)
        .each("interpolated", Unit::Name, |p| p.interpolated.then_some("yes"))
        .build()
}
