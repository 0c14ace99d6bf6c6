//! Histograms as distributions.

use kilocore_profile::Histogram;

use crate::Duration;

/// Equally likely ranges that an observed distribution is cut into.
const RANGES: usize = 64;
/// A duration longer than this multiple of the 99th percentile is taken for one during which the
/// thread lost its core.
const INTERRUPTED: f64 = 20.0;

/// A histogram as a distribution, in cycles of a clock of `ghz`.
pub(super) fn observed(histogram: &Histogram, ghz: f64) -> Duration {
    if histogram.count == 0 {
        return Duration::Constant(0.0);
    }
    let longest = histogram.quantile(0.99) * INTERRUPTED;
    let kept: u64 = histogram.buckets.iter().filter(|b| b.0 <= longest).map(|b| b.1).sum();
    let kept = kept as f64 / histogram.count as f64;
    let quantile = |rank: usize| histogram.quantile(kept * rank as f64 / RANGES as f64);
    let shape =
        Duration::Observed { quantiles: (1..=RANGES).map(quantile).collect(), low: quantile(0) };
    let mean = shape.mean();
    let exact = if mean > 0.0 { histogram.trimmed_mean_ns(0.0, kept) / mean } else { 1.0 };
    shape.scaled(exact * ghz)
}
