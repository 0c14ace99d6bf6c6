//! The clock that the name of a processor states: 2.6 GHz of `Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz`.
//!
//! It is the nominal one. A core may run faster or more slowly than that.

/// What a clock may be, in GHz. Anything else is no clock.
const POSSIBLE: std::ops::RangeInclusive<f64> = 0.1..=10.0;

/// Returns the clock in GHz, or nothing if the name states none.
pub(crate) fn stated_ghz(processor: &str) -> Option<f64> {
    let (_, clock) = processor.rsplit_once('@')?;
    let clock = clock.trim();
    let of_unit = |unit: &str, ghz: f64| {
        let number = clock.get(..clock.len().checked_sub(unit.len())?)?;
        let is_unit = clock[number.len()..].eq_ignore_ascii_case(unit);
        Some(number.trim().parse::<f64>().ok().filter(|_| is_unit)? * ghz)
    };
    let found = of_unit("GHz", 1.0).or_else(|| of_unit("MHz", 1e-3));
    found.filter(|ghz| POSSIBLE.contains(ghz))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_clock_is_taken_for_one() {
        for (name, ghz) in [
            ("Intel(R) Xeon(R) CPU @ 2.30GHz", Some(2.3)),
            ("Intel(R) Xeon(R) CPU E5-2670 0 @ 2.60GHz", Some(2.6)),
            ("an older one @ 850 MHz ", Some(0.85)),
            ("AMD EPYC 7B12", None),
            ("12th Gen Intel(R) Core(TM) i7-12700K", None),
            ("@ fastGHz", None),
            ("@ NaNGHz", None),
            ("@ 2600GHz", None),
            ("@ -2GHz", None),
            ("@ \u{e9}Hz", None),
            ("x @", None),
        ] {
            assert_eq!(stated_ghz(name), ghz, "{name}");
        }
    }
}
