//! How well measurements pin a workload down.

use serde::Serialize;

use crate::fit::atlas::Atlas;
use crate::fit::weigh::Hypothesis;

/// A workload that explains the measurements.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plausible {
    /// Its share of the whole weight.
    pub weight: f64,
    /// The workload, parameter by parameter.
    pub parameters: Vec<(&'static str, f64)>,
    /// What the workload also does that no lock can mend.
    pub background: &'static str,
}

/// How well the measurements pin one parameter of the workload down.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pinned {
    /// The parameter, with its unit.
    pub parameter: &'static str,
    /// The weighted median over all workloads that explain the measurements.
    pub median: f64,
    /// The 5 % quantile over these workloads.
    pub low: f64,
    /// The 95 % quantile over these workloads.
    pub high: f64,
    /// Whether the parameter was known beforehand, from a profile.
    pub given: bool,
    /// How much of what was possible beforehand is still possible. This is 1 if the measurements
    /// say nothing about the parameter, near 0 if they determine it, and 0 if it was known.
    pub left: f64,
}

/// Reads the value of a parameter from a hypothesis.
type Read = fn(&Atlas<'_>, &Hypothesis) -> f64;

/// The parameters, by name.
const PARAMETERS: [(&str, Read); 7] = [
    ("share of time in the lock phase", |_, h| h.mixture.lock_share()),
    ("share of time no lock can mend", |_, h| h.mixture.background_share),
    ("think per hold", |atlas, h| atlas.phases()[h.phase].think_per_hold),
    ("hold (cycles)", |atlas, h| atlas.phases()[h.phase].hold_cycles),
    ("lines that move with the lock", |atlas, h| atlas.phases()[h.phase].lines),
    ("locks", |atlas, h| f64::from(atlas.phases()[h.phase].locks)),
    ("threads per core", |atlas, h| atlas.phases()[h.phase].threads.per_core()),
];

/// If there are fewer possibilities than this besides the likeliest, they do not count.
const CERTAIN: f64 = 1e-9;

pub(crate) fn plausible(atlas: &Atlas<'_>, hypotheses: &[Hypothesis]) -> Vec<Plausible> {
    let describe = |h: &Hypothesis| Plausible {
        weight: h.weight,
        parameters: PARAMETERS.iter().map(|(name, read)| (*name, read(atlas, h))).collect(),
        background: h.mixture.background.name(),
    };
    hypotheses.iter().map(describe).collect()
}

pub(crate) fn pinned(
    atlas: &Atlas<'_>,
    hypotheses: &[Hypothesis],
    beforehand: &[Hypothesis],
) -> Vec<Pinned> {
    let pin = |(parameter, read): &(&'static str, Read)| {
        let values = |all: &[Hypothesis]| {
            let mut values: Vec<(f64, f64)> =
                all.iter().map(|h| (read(atlas, h), h.weight)).collect();
            values.sort_by(|a, b| a.0.total_cmp(&b.0));
            values
        };
        let (after, before) = (values(hypotheses), values(beforehand));
        let possible = libm::exp(entropy(&before)) - 1.0;
        let given = possible < CERTAIN;
        Pinned {
            parameter,
            median: quantile(&after, 0.5),
            low: quantile(&after, 0.05),
            high: quantile(&after, 0.95),
            given,
            left: if given { 0.0 } else { (libm::exp(entropy(&after)) - 1.0) / possible },
        }
    };
    PARAMETERS.iter().map(pin).collect()
}

/// The value below which `share` of the weight of ascending `values` lies.
fn quantile(values: &[(f64, f64)], share: f64) -> f64 {
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut below = 0.0;
    for &(value, weight) in values {
        below += weight;
        if below >= share * total {
            return value;
        }
    }
    values.last().map_or(0.0, |v| v.0)
}

/// The entropy of ascending weighted values, which is the logarithm of how many are possible.
fn entropy(values: &[(f64, f64)]) -> f64 {
    let total: f64 = values.iter().map(|v| v.1).sum();
    let mut entropy = 0.0;
    for equal in values.chunk_by(|a, b| a.0 == b.0) {
        let share = equal.iter().map(|v| v.1).sum::<f64>() / total;
        if share > 0.0 {
            entropy -= share * libm::log(share);
        }
    }
    entropy
}
