//! What the program as it is will do.

use kilocore_figures::Shape;

use crate::Curve;
use crate::words::{counted, percent};

/// Below this share of what is lost against a program that scales, locks do not matter. Something else limits that
/// program.
pub(super) const LESSER_PART: f64 = 0.25;

/// What the program as it is will do, as a part of a sentence that stands behind a colon.
pub(super) fn shape(today: &Curve, machine: &str) -> String {
    let most = cores(today);
    let peak = counted(today.peak_cores.into(), "core");
    match today.shape {
        Shape::Scales => format!("forecast to scale to {most} cores of {machine}"),
        Shape::Flattens => format!(
            "forecast to reach its peak at {peak} of {machine} and to gain {} beyond",
            if today.peak_cores == most { "little" } else { "nothing" }
        ),
        Shape::Collapses => format!(
            "forecast to peak at {peak} of {machine} and to fall to {} of that at {most}",
            percent(today.end_share)
        ),
    }
}

/// The share of its throughput that the program lacks in the end, against one that scales.
pub(super) fn lost(today: &Curve) -> f64 {
    let Some(first) = today.points.first() else { return 0.0 };
    let (from, to) = (&first.point, &today.end().point);
    let each = |point: &crate::Point| point.throughput_per_s / f64::from(point.cores);
    (1.0 - each(to) / each(from).max(f64::MIN_POSITIVE)).max(0.0)
}

pub(super) fn cores(curve: &Curve) -> u32 {
    curve.end().point.cores
}
