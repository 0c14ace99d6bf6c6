//! What pages share: their style and script, and the cells of their tables of curves.

use kilocore_figures::{Curve, CurvePoint, Shape};
use kilocore_locks::{LockId, RwLockId};

use crate::scale::{Growth, Scale};

/// Style rules of the charts.
pub(crate) const CHART_STYLE: &str = include_str!("../templates/chart.css");
/// Style rules of the page.
pub(crate) const PAGE_STYLE: &str = include_str!("../templates/report.css");
/// Sorting, copying and quicker hover values.
pub(crate) const SCRIPT: &str = include_str!("../templates/report.js");

/// What the lock of that name is; nothing if the registry does not know it.
pub(crate) fn about(name: &str) -> &'static str {
    let mutex = LockId::ALL.iter().find(|lock| lock.name() == name).map(|lock| lock.info());
    let rw_lock = || RwLockId::ALL.iter().find(|lock| lock.name() == name).map(|lock| lock.info());
    mutex.or_else(rw_lock).map_or("", |info| info.title)
}

/// The points of a curve's line in a table, on a scale that ends at `highest`.
pub(crate) fn sparkline<P: CurvePoint>(curve: &Curve<P>, most_cores: u32, highest: f64) -> String {
    let x = Scale::new(Growth::Linear, (0.0, f64::from(most_cores)), (1.0, 89.0));
    let y = Scale::new(Growth::Linear, (0.0, highest.max(f64::MIN_POSITIVE)), (21.0, 2.0));
    let places = curve
        .points
        .iter()
        .map(|p| format!("{:.1},{:.1}", x.place(f64::from(p.cores())), y.place(p.throughput())));
    places.collect::<Vec<_>>().join(" ")
}

/// What the shape of a curve is shown by, besides its name.
pub(crate) fn shape_sign(shape: Shape) -> &'static str {
    match shape {
        Shape::Scales => "↗",
        Shape::Flattens => "→",
        Shape::Collapses => "↘",
    }
}
