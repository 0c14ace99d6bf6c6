//! Random durations.

use kilocore_platform::Cycles;
use kilocore_sim::Random;

/// How long something takes, in cycles of the simulated machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Duration {
    /// Always the same.
    Constant(f64),
    /// Exponentially distributed with this mean.
    Exponential(f64),
    /// As observed.
    Observed {
        /// Upper ends of equally likely ranges, ascending; the first range starts at `low`.
        quantiles: Vec<f64>,
        /// The lower end of the first range.
        low: f64,
    },
}

impl Duration {
    /// The mean, in cycles.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Duration::Constant(mean) | Duration::Exponential(mean) => *mean,
            Duration::Observed { quantiles, low } => {
                let starts = std::iter::once(low).chain(quantiles);
                let middles = starts.zip(quantiles).map(|(a, b)| (a + b) / 2.0);
                middles.sum::<f64>() / quantiles.len().max(1) as f64
            }
        }
    }

    /// The same distribution, stretched.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Duration::Constant(mean) => Duration::Constant(mean * factor),
            Duration::Exponential(mean) => Duration::Exponential(mean * factor),
            Duration::Observed { quantiles, low } => Duration::Observed {
                quantiles: quantiles.iter().map(|q| q * factor).collect(),
                low: low * factor,
            },
        }
    }

    /// Draws a duration.
    pub fn sample(&self, random: &mut Random) -> Cycles {
        let cycles = match self {
            Duration::Constant(mean) => *mean,
            Duration::Exponential(mean) => random.exponential(*mean),
            Duration::Observed { quantiles, low } => {
                let place = random.uniform() * quantiles.len() as f64;
                let index = place as usize;
                let Some(&end) = quantiles.get(index) else { return Cycles(0) };
                let start = if index == 0 { *low } else { quantiles[index - 1] };
                start + (end - start) * (place - index as f64)
            }
        };
        Cycles(cycles.round() as u64)
    }
}
