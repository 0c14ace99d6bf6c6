//! Random durations.

use kilocore_platform::Cycles;
use kilocore_sim::Random;

/// How long something takes, in cycles of the simulated machine.
#[derive(Debug, Clone, PartialEq)]
pub enum Duration {
    /// Every time this many cycles.
    Constant(f64),
    /// Exponentially distributed with this mean.
    Exponential(f64),
    /// As observed, in ranges. Even the rarest ranges count, because a few long durations may hold
    /// all the work.
    Observed(Vec<Range>),
}

/// Durations between two bounds, all equally likely.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The share of all durations that is in this range or in one before; ascending, and 1 in the
    /// last.
    pub up_to: f64,
    /// The shortest duration, in cycles.
    pub low: f64,
    /// The longest duration, in cycles.
    pub high: f64,
}

impl Range {
    fn mean(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }

    fn mean_square(&self) -> f64 {
        (self.low * self.low + self.low * self.high + self.high * self.high) / 3.0
    }
}

/// The mean of a quantity over all ranges, each weighted with its share.
fn over(ranges: &[Range], of: impl Fn(&Range) -> f64) -> f64 {
    let before = std::iter::once(0.0).chain(ranges.iter().map(|range| range.up_to));
    ranges.iter().zip(before).map(|(range, before)| (range.up_to - before) * of(range)).sum()
}

/// Exponentially distributed durations by ranges, eight for each half of what is left.
fn exponential(mean: f64) -> Vec<Range> {
    const PARTS: u32 = 8;
    const HALVES: u32 = 16;
    let halved = |step: u32| f64::from(step) / f64::from(PARTS);
    let to = |step: u32| mean * std::f64::consts::LN_2 * halved(step);
    let steps = PARTS * HALVES;
    let range = |step: u32| Range {
        up_to: 1.0 - libm::exp2(-halved(step)),
        low: to(step - 1),
        high: to(step),
    };
    // What is left lasts a mean longer on average.
    let rest = Range { up_to: 1.0, low: to(steps), high: to(steps) + 2.0 * mean };
    (1..=steps).map(range).chain([rest]).collect()
}

impl Duration {
    /// The mean, in cycles.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Duration::Constant(mean) | Duration::Exponential(mean) => *mean,
            Duration::Observed(ranges) => over(ranges, Range::mean),
        }
    }

    /// The variance as a multiple of the square of the mean; 0 if the mean is 0.
    #[must_use]
    pub fn relative_variance(&self) -> f64 {
        let mean = self.mean();
        match self {
            Duration::Constant(_) => 0.0,
            _ if mean <= 0.0 => 0.0,
            Duration::Exponential(_) => 1.0,
            Duration::Observed(ranges) => {
                (over(ranges, Range::mean_square) / (mean * mean) - 1.0).max(0.0)
            }
        }
    }

    /// The same distribution, stretched.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        match self {
            Duration::Constant(mean) => Duration::Constant(mean * factor),
            Duration::Exponential(mean) => Duration::Exponential(mean * factor),
            Duration::Observed(ranges) => {
                let stretch =
                    |r: &Range| Range { low: r.low * factor, high: r.high * factor, ..*r };
                Duration::Observed(ranges.iter().map(stretch).collect())
            }
        }
    }

    /// The same shape with another mean, in cycles. If the old mean is 0, every duration is the new
    /// mean.
    #[must_use]
    pub fn lasting(&self, mean: f64) -> Self {
        let before = self.mean();
        if before > 0.0 { self.scaled(mean / before) } else { Duration::Constant(mean) }
    }

    /// The same distribution, each duration longer by so many cycles. An exponential one is then described by
    /// ranges.
    #[must_use]
    pub fn later_by(&self, cycles: f64) -> Self {
        match self {
            Duration::Constant(mean) => Duration::Constant(mean + cycles),
            Duration::Exponential(mean) => Duration::Observed(exponential(*mean)).later_by(cycles),
            // Nothing observed takes no time.
            Duration::Observed(ranges) if ranges.is_empty() => Duration::Constant(cycles),
            Duration::Observed(ranges) => {
                let later = |r: &Range| Range { low: r.low + cycles, high: r.high + cycles, ..*r };
                Duration::Observed(ranges.iter().map(later).collect())
            }
        }
    }

    /// Draws a duration at random.
    pub fn sample(&self, random: &mut Random) -> Cycles {
        let cycles = match self {
            Duration::Constant(mean) => *mean,
            Duration::Exponential(mean) => random.exponential(*mean),
            Duration::Observed(ranges) => {
                let place = random.uniform();
                let index = ranges.partition_point(|range| range.up_to <= place);
                let Some(range) = ranges.get(index).or(ranges.last()) else { return Cycles(0) };
                let before = if index == 0 { 0.0 } else { ranges[index - 1].up_to };
                let within = (place - before) / (range.up_to - before).max(f64::MIN_POSITIVE);
                range.low + (range.high - range.low) * within.clamp(0.0, 1.0)
            }
        };
        Cycles(cycles.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use kilocore_sim::Random;

    use super::{Duration, Range};

    /// A few of these durations have nearly all of the time.
    fn heavy() -> Duration {
        Duration::Observed(vec![
            Range { up_to: 0.994, low: 100.0, high: 300.0 },
            Range { up_to: 1.0, low: 90_000.0, high: 110_000.0 },
        ])
    }

    #[test]
    fn the_mean_and_the_variance_are_those_of_what_is_drawn() {
        let duration = heavy();
        let mut random = Random::new(7, 1);
        let drawn: Vec<f64> = (0..200_000).map(|_| duration.sample(&mut random).0 as f64).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let square = drawn.iter().map(|d| d * d).sum::<f64>() / drawn.len() as f64;
        let expected = 0.994 * 200.0 + 0.006 * 100_000.0;
        assert!((duration.mean() - expected).abs() < 1e-6);
        // About 1,200 draws are long, so the mean has a standard deviation of 3 %. Four are
        // allowed.
        assert!((mean / expected - 1.0).abs() < 0.12, "{mean}");
        let relative = square / (mean * mean) - 1.0;
        assert!((relative / duration.relative_variance() - 1.0).abs() < 0.2, "{relative}");
    }

    #[test]
    fn stretching_keeps_the_shape() {
        let (long, stretched) = (heavy(), heavy().scaled(3.0));
        assert!((stretched.mean() / long.mean() - 3.0).abs() < 1e-12);
        let variances = [long.relative_variance(), stretched.relative_variance()];
        assert!((variances[0] - variances[1]).abs() < 1e-9);
    }

    #[test]
    fn what_is_later_keeps_its_variance() {
        for duration in [heavy(), Duration::Constant(700.0), Duration::Exponential(700.0)] {
            let later = duration.later_by(300.0);
            let variance = |of: &Duration| of.relative_variance() * of.mean() * of.mean();
            assert!((later.mean() / (duration.mean() + 300.0) - 1.0).abs() < 0.002, "{later:?}");
            let off = variance(&later) - variance(&duration);
            assert!(off.abs() <= 0.01 * variance(&duration), "{later:?}");
        }
        assert_eq!(Duration::Observed(Vec::new()).later_by(5.0), Duration::Constant(5.0));
    }

    #[test]
    fn nothing_observed_takes_no_time() {
        let nothing = Duration::Observed(Vec::new());
        assert_eq!(nothing.mean(), 0.0);
        assert_eq!(nothing.relative_variance(), 0.0);
        assert_eq!(nothing.sample(&mut Random::new(1, 1)).0, 0);
    }
}
