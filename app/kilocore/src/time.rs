//! Lengths of time as they are typed: `10`, `2.5s`, `500ms`, `5m`.

use std::time::Duration;

/// A length of time: a number of seconds, or of what is named behind it.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    /// The most that makes sense, in seconds: a year.
    const MOST: f64 = 365.0 * 86_400.0;
    let units = [("ms", 0.001), ("min", 60.0), ("m", 60.0), ("h", 3600.0), ("s", 1.0), ("", 1.0)];
    let parsed = units.into_iter().find_map(|(unit, seconds)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * seconds)
    });
    match parsed {
        Some(seconds) if seconds > 0.0 && seconds <= MOST => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("'{text}' is no time; give seconds above 0, as in 10, 2.5s, 500ms or 5m")),
    }
}

/// A length of time, or 0 for none.
pub(crate) fn parse_or_none(text: &str) -> Result<Duration, String> {
    if text.trim() == "0" { Ok(Duration::ZERO) } else { parse(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        let ms = |text| parse(text).map(|time| time.as_millis());
        for (text, expected) in
            [("10", 10_000), ("2.5s", 2_500), ("500ms", 500), ("5m", 300_000), ("1h", 3_600_000)]
        {
            assert_eq!(ms(text), Ok(expected), "{text}");
        }
        for text in ["", "0", "-1", "nan", "inf", "1e300", "ten", "5 weeks", "s"] {
            assert!(ms(text).is_err(), "{text}");
        }
    }
}
