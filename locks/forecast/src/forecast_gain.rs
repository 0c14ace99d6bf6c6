//! A forecast gain, what it may lie between, and the chance that it is one.

use serde::Serialize;

use crate::{GainError, PublishedGain};

/// Standard deviations from the middle of a normal distribution to where half of it lies within.
const TO_THE_MEDIAN: f64 = 0.674_489_750_196_081_7;
/// Standard deviations to where nineteen in twenty lie within.
const TO_THE_BAND: f64 = 1.96;
/// A lock is recommended if the chance that it is a gain is at least this. In setting C of
/// `docs/evidence/fidelity.md`, such gains were on the right side in four of five cases, and smaller ones in
/// less than half.
const LEAST_CHANCE: f64 = 2.0 / 3.0;
/// From this chance on, the advice does not say *perhaps*.
const SURE: f64 = 0.75;

/// A throughput as a multiple of another one, by forecast.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ForecastGain {
    /// The multiple.
    pub gain: f64,
    /// The lower end of what the profile and the chance of the simulation leave open.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl ForecastGain {
    /// A gain that is what it is.
    #[must_use]
    pub fn exactly(gain: f64) -> Self {
        Self { gain, low: gain, high: gain }
    }

    /// The chance that a measurement would find the first throughput higher. The logarithm of a measured
    /// gain is taken to be that of the forecast one, plus two normal errors: what the profile leaves open,
    /// and how far forecast gains were from measured ones ([`GainError::published_of_all`]). Where the same
    /// change was measured of other programs, that this one is one more of these is the second, independent,
    /// estimate, and each counts by its certainty.
    #[must_use]
    pub fn chance(&self, published: Option<PublishedGain>) -> f64 {
        let (middle, spread) = self.estimated(published);
        0.5 * (1.0 + libm::erf(middle / spread / std::f64::consts::SQRT_2))
    }

    /// The gain that is as likely exceeded as not, by the same account as [`chance`](Self::chance): the
    /// forecast one, where nothing was measured of other programs.
    #[must_use]
    pub fn expected(&self, published: Option<PublishedGain>) -> f64 {
        libm::exp(self.estimated(published).0)
    }

    /// Between what a measured gain is as likely as not, by the same account.
    #[must_use]
    pub fn even_chances(&self, published: Option<PublishedGain>) -> [f64; 2] {
        let (middle, spread) = self.estimated(published);
        [-TO_THE_MEDIAN, TO_THE_MEDIAN].map(|away| libm::exp(middle + away * spread))
    }

    /// The middle and the standard deviation of the logarithm of the gain.
    fn estimated(&self, published: Option<PublishedGain>) -> (f64, f64) {
        let of_model = libm::log(GainError::published_of_all().median) / TO_THE_MEDIAN;
        let of_profile = libm::log(self.high / self.low) / (2.0 * TO_THE_BAND);
        let forecast = (libm::log(self.gain), of_model.hypot(of_profile));
        let published = published.map(|gain| (libm::log(gain.middle), libm::log(gain.spread)));
        let (mut sum, mut certainty) = (0.0, 0.0);
        for (middle, spread) in [Some(forecast), published].into_iter().flatten() {
            let weight = 1.0 / (spread * spread);
            sum += weight * middle;
            certainty += weight;
        }
        (sum / certainty, 1.0 / libm::sqrt(certainty))
    }

    /// Whether the chance of a gain is high enough to recommend what brings it, and the profile leaves
    /// nothing but a gain.
    #[must_use]
    pub fn is_likely(&self, published: Option<PublishedGain>) -> bool {
        self.low > 1.0 && self.chance(published) >= LEAST_CHANCE
    }

    /// Whether it is so likely that nobody has to say *perhaps*.
    #[must_use]
    pub fn is_sure(&self, published: Option<PublishedGain>) -> bool {
        self.is_likely(published) && self.chance(published) >= SURE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_grows_with_the_gain_and_shrinks_with_what_is_open() {
        let chance = |gain| ForecastGain::exactly(gain).chance(None);
        assert!((chance(1.0) - 0.5).abs() < 1e-9);
        assert!((chance(2.0) + chance(0.5) - 1.0).abs() < 1e-9);
        // Half of all gains are off by less than the median error.
        let median = GainError::published_of_all().median;
        assert!((chance(median) - 0.75).abs() < 1e-6, "{}", chance(median));
        let vague = ForecastGain { gain: 3.0, low: 0.5, high: 9.0 };
        assert!(
            vague.chance(None) < chance(3.0) && vague.chance(None) > 0.5,
            "{}",
            vague.chance(None)
        );
    }

    #[test]
    fn small_gains_are_not_likely() {
        assert!(!ForecastGain::exactly(1.2).is_likely(None));
        let some = ForecastGain::exactly(1.45);
        assert!(some.is_likely(None) && !some.is_sure(None));
        assert!(ForecastGain::exactly(2.0).is_sure(None));
        assert!(!ForecastGain { gain: 3.0, low: 0.9, high: 9.0 }.is_likely(None));
    }

    #[test]
    fn what_was_measured_of_other_programs_counts_by_its_certainty() {
        let of = |middle, spread| PublishedGain { cases: 9, middle, spread, gained: 5, lost: 2 };
        let gain = ForecastGain::exactly(1.5);
        let with = |published: PublishedGain| gain.chance(Some(published));
        assert!(with(of(2.0, 1.5)) > gain.chance(None));
        assert!(with(of(0.5, 1.5)) < 0.5);
        assert!((with(of(0.5, 1e9)) - gain.chance(None)).abs() < 0.01);
        // Of two equally certain opposites nothing is left.
        let spread = libm::exp(libm::log(GainError::published_of_all().median) / TO_THE_MEDIAN);
        assert!((with(of(1.0 / 1.5, spread)) - 0.5).abs() < 1e-9);
        assert!((gain.expected(Some(of(1.0 / 1.5, spread))) - 1.0).abs() < 1e-9);
        assert!((gain.expected(None) - 1.5).abs() < 1e-9);
        let [low, high] = gain.even_chances(None);
        assert!((high / 1.5 - GainError::published_of_all().median).abs() < 1e-9);
        assert!((low * high - 1.5 * 1.5).abs() < 1e-9);
    }
}
