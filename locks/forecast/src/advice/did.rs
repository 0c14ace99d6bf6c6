//! What was measured on the cores that are here, in words.

use kilocore_lock_profile::ScalingPoint;

use crate::words::counted;

/// What was measured, worded such that it can stand in a sentence.
pub(super) fn did(point: &ScalingPoint) -> String {
    let between = |speedup: f64| format!("{speedup:.2}");
    let [low, high] = [point.speedup_low, point.speedup_high].map(between);
    let interval = if low == high { String::new() } else { format!(", {low} to {high}") };
    format!(
        "on {} it does {:.2} times what it does on one (measured here in {}{interval})",
        counted(point.cores.into(), "core"),
        point.speedup,
        counted(point.runs as u64, "round")
    )
}
