//! How far the model errs, whatever the profile says.
//!
//! A program is simpler in the model than it is, and so is the machine. The logarithm of a measured
//! throughput is modelled as that of the forecast plus a normal error ([`deviation`]). The error
//! grows with the distance from one core, where there is little to err on, and soon reaches its full
//! size. [`crate::fit`] assumes an error of the same size before it has seen measurements.
//! `docs/evidence/fidelity.md`, setting C, says how often the band holds.

use crate::ForecastPoint;

/// The standard deviation on many cores. It is about the root mean square of what [`crate::fit`]
/// deems possible before it has seen measurements, if threads wait half of their time.
const ON_MANY_CORES: f64 = 0.5;
/// Standard deviations from the middle of a normal distribution to the ends of a band that holds 85 in a
/// hundred. A band that holds nearly everything is too wide to decide by.
const TO_THE_END: f64 = 1.44;

/// The standard deviation of the logarithm of the throughput on `cores` cores, relative to one.
fn deviation(cores: u32) -> f64 {
    let away = libm::log(f64::from(cores.max(1)));
    ON_MANY_CORES * (1.0 - libm::exp(-0.5 * away * away)).sqrt()
}

/// Takes a band that comes from the profile's own uncertainty, and widens it by the model's error.
pub(crate) fn widen(point: &mut ForecastPoint) {
    let factor = libm::exp(TO_THE_END * deviation(point.point.cores));
    point.low /= factor;
    point.high *= factor;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Point;

    fn widened(cores: u32) -> (f64, f64) {
        let point = Point { cores, throughput_per_s: 10.0, ..Point::empty("test") };
        let mut point = ForecastPoint { point, low: 9.0, high: 11.0 };
        widen(&mut point);
        (point.low, point.high)
    }

    #[test]
    fn bands_open_away_from_one_core_and_then_no_further() {
        assert_eq!(widened(1), (9.0, 11.0));
        let (two, some, many) = (widened(2), widened(16), widened(128));
        assert!(two.1 < some.1 && some.1 < many.1, "{two:?} {some:?} {many:?}");
        assert!(many.1 < 1.02 * some.1 && many.1 < 11.0 * 2.06, "{many:?}");
        assert!((many.0 * many.1 - 99.0).abs() < 1e-9, "{many:?}");
    }
}
