//! Axes: from figures to places, and the round figures to label.

/// How an axis grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// Equal differences are equally long.
    Linear,
    /// Equal ratios are equally long.
    Logarithmic,
}

/// An axis: which figure stands at which place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    growth: Growth,
    /// The figures at both ends, ascending.
    domain: (f64, f64),
    /// The places of these, in the units of the sheet.
    range: (f64, f64),
}

impl Scale {
    /// An axis whose ends are the figures of `domain` (ascending, and above 0 if logarithmic), at
    /// the places of `range`. A domain without extent is widened, so that every figure has a
    /// place.
    #[must_use]
    pub fn new(growth: Growth, domain: (f64, f64), range: (f64, f64)) -> Self {
        let (low, high) = domain;
        let low = match growth {
            Growth::Linear => low,
            Growth::Logarithmic => low.max(f64::MIN_POSITIVE),
        };
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        Self { growth, domain: (low, high), range }
    }

    /// The place of a figure. Figures outside the domain have the place of its nearer end, and what
    /// is not a number that of the lower one.
    #[must_use]
    pub fn place(&self, value: f64) -> f64 {
        let (low, high) = self.domain;
        let value = if value.is_nan() { low } else { value.clamp(low, high) };
        let share = match self.growth {
            Growth::Linear => (value - low) / (high - low),
            Growth::Logarithmic => (value / low).ln() / (high / low).ln(),
        };
        self.range.0 + share * (self.range.1 - self.range.0)
    }

    /// The upper end of the domain.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.domain.1
    }

    /// Round figures inside the domain, ascending, about `wanted` of them or fewer.
    #[must_use]
    pub fn ticks(&self, wanted: u32) -> Vec<f64> {
        match self.growth {
            Growth::Linear => {
                let step = round_step((self.domain.1 - self.domain.0) / f64::from(wanted.max(1)));
                self.multiples(step)
            }
            Growth::Logarithmic => self.decades(wanted),
        }
    }

    /// Numbers of cores to label: on a linear axis multiples of a number that divides machines
    /// evenly, on a logarithmic one
    /// powers of two and the last.
    #[must_use]
    pub fn core_ticks(&self, wanted: u32) -> Vec<f64> {
        match self.growth {
            Growth::Linear => {
                let least = (self.domain.1 - self.domain.0) / f64::from(wanted.max(1));
                let mut steps = CORE_STEPS.into_iter().filter(|&step| step >= least);
                let nearest = steps.next().unwrap_or_else(|| round_step(least));
                // A somewhat wider step is better if it ends at the last number of cores.
                let even = |step: &f64| (self.domain.1 / step).fract() == 0.0;
                let even = [nearest].into_iter().chain(steps.take(2)).find(even);
                self.multiples(even.unwrap_or(nearest))
            }
            Growth::Logarithmic => {
                let last = self.domain.1;
                let powers = (0..f64::MAX_EXP).map(|power| 2_f64.powi(power));
                let powers = powers.skip_while(|&cores| cores < self.domain.0);
                // The last number of cores is always labelled, and nothing too close to it.
                let before = powers.take_while(|&cores| cores * LEAST_RATIO <= last);
                before.chain([last]).collect()
            }
        }
    }

    fn multiples(&self, step: f64) -> Vec<f64> {
        let (low, high) = self.domain;
        // A tick at the very end must not be lost to rounding.
        let slack = step * 1e-9;
        let first = ((low - slack) / step).ceil() as i64;
        let last = ((high + slack) / step).floor() as i64;
        (first..=last).map(|n| n as f64 * step).collect()
    }

    /// Powers of ten, with 2 and 5 or with 3 times each if there is room for them.
    fn decades(&self, wanted: u32) -> Vec<f64> {
        let (low, high) = self.domain;
        let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
        let within = |factors: &[f64]| -> Vec<f64> {
            let values = powers
                .clone()
                .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
            values.filter(|v| (low * 0.999_999..=high * 1.000_001).contains(v)).collect()
        };
        let choices = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(within);
        let fits = choices.iter().find(|ticks| ticks.len() <= wanted as usize);
        fits.cloned().unwrap_or_else(|| choices[2].clone())
    }
}

/// The least ratio of the last label on a logarithmic axis of cores to the one before.
const LEAST_RATIO: f64 = 1.3;
/// Numbers of cores between labels.
const CORE_STEPS: [f64; 13] =
    [1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 96.0, 128.0];

/// The smallest of 1, 2 and 5 times a power of ten that is at least `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= least * 0.999_999);
    step.unwrap_or(10.0) * power
}

#[cfg(test)]
mod tests {
    use super::{Growth, Scale};

    #[test]
    fn places_run_from_end_to_end() {
        let y = Scale::new(Growth::Linear, (0.0, 200.0), (400.0, 0.0));
        assert_eq!((y.place(0.0), y.place(50.0), y.place(200.0)), (400.0, 300.0, 0.0));
        assert_eq!((y.place(-9.0), y.place(900.0), y.place(f64::NAN)), (400.0, 0.0, 400.0));
        let x = Scale::new(Growth::Logarithmic, (1.0, 64.0), (0.0, 600.0));
        assert!((x.place(8.0) - 300.0).abs() < 1e-9);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let y = Scale::new(Growth::Linear, (0.0, 1.37e6), (0.0, 1.0));
        assert_eq!(y.ticks(5), [0.0, 5e5, 1e6]);
        let cores = Scale::new(Growth::Linear, (0.0, 48.0), (0.0, 1.0));
        assert_eq!(cores.core_ticks(9), [0.0, 6.0, 12.0, 18.0, 24.0, 30.0, 36.0, 42.0, 48.0]);
        let cores = Scale::new(Growth::Linear, (0.0, 128.0), (0.0, 1.0));
        assert_eq!(cores.core_ticks(14).last(), Some(&128.0));
        let cores = Scale::new(Growth::Linear, (0.0, 7.0), (0.0, 1.0));
        assert_eq!(cores.core_ticks(4), [0.0, 2.0, 4.0, 6.0]);
        let cores = Scale::new(Growth::Logarithmic, (1.0, 48.0), (0.0, 1.0));
        assert_eq!(cores.core_ticks(9), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0]);
        let y = Scale::new(Growth::Logarithmic, (3e4, 2e6), (0.0, 1.0));
        let expected = [5e4, 1e5, 2e5, 5e5, 1e6, 2e6];
        assert!(y.ticks(8).iter().zip(expected).all(|(tick, e)| (tick / e - 1.0).abs() < 1e-9));
        assert_eq!(y.ticks(4).len(), 4);
        assert_eq!(y.ticks(2).len(), 2);
    }

    #[test]
    fn a_domain_without_extent_still_has_places() {
        for growth in [Growth::Linear, Growth::Logarithmic] {
            let scale = Scale::new(growth, (0.0, 0.0), (10.0, 20.0));
            assert!(scale.place(0.0).is_finite());
            assert!(!scale.ticks(5).iter().any(|tick| tick.is_nan()));
        }
    }
}
