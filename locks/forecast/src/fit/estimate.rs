//! A forecast throughput and its band, from many mixtures.

use serde::Serialize;

/// A forecast throughput with its band, in the unit of the measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The geometric mean over all workloads that explain the measurements.
    pub throughput: f64,
    /// The lower end of the band. If the model's error is as assumed, the band holds a measured
    /// value nineteen times in twenty. `docs/evidence/fidelity.md` says how often it really does.
    pub low: f64,
    /// The upper end of the band.
    pub high: f64,
}

/// What one workload says: a normal distribution of the logarithm of the throughput.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opinion {
    pub(crate) weight: f64,
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

/// The share of the distribution that lies beyond each end of a band.
const TAIL: f64 = 0.025;

impl Estimate {
    /// Combines all opinions, whose weights add up to 1.
    pub(crate) fn of(opinions: &[Opinion]) -> Self {
        let mean = opinions.iter().map(|o| o.weight * o.mean).sum();
        Self {
            throughput: libm::exp(mean),
            low: libm::exp(quantile(opinions, TAIL)),
            high: libm::exp(quantile(opinions, 1.0 - TAIL)),
        }
    }
}

/// The value below which `share` of the mixture of all opinions lies.
fn quantile(opinions: &[Opinion], share: f64) -> f64 {
    let reach = |o: &Opinion| 6.0 * o.variance.sqrt();
    let mut low = opinions.iter().map(|o| o.mean - reach(o)).fold(f64::INFINITY, f64::min);
    let mut high = opinions.iter().map(|o| o.mean + reach(o)).fold(f64::NEG_INFINITY, f64::max);
    while high - low > 1e-4 {
        let middle = f64::midpoint(low, high);
        let below: f64 = opinions.iter().map(|o| o.weight * below(o, middle)).sum();
        if below < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

fn below(opinion: &Opinion, place: f64) -> f64 {
    0.5 * libm::erfc((opinion.mean - place) / (2.0 * opinion.variance).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_opinion_gives_the_quantiles_of_a_normal_distribution() {
        let one = Estimate::of(&[Opinion { weight: 1.0, mean: 2.0, variance: 0.25 }]);
        assert!((one.throughput.ln() - 2.0).abs() < 1e-9);
        assert!((one.low.ln() - (2.0 - 1.96 * 0.5)).abs() < 1e-3, "{one:?}");
        assert!((one.high.ln() - (2.0 + 1.96 * 0.5)).abs() < 1e-3, "{one:?}");
    }

    #[test]
    fn opinions_that_differ_widen_the_band() {
        let narrow = |mean| Opinion { weight: 0.5, mean, variance: 1e-4 };
        let both = Estimate::of(&[narrow(0.0), narrow(1.0)]);
        assert!(both.low < 1.0 && both.high > 2.7, "{both:?}");
        assert!((both.throughput.ln() - 0.5).abs() < 1e-9);
    }
}
