//! Decimal numbers, exact.
//!
//! Programs print their work as `1,234,567`, `1.5e6` or `20833.41`. Such a number is kept as a
//! whole number of some power of ten. So sums lose no digit, and a number that does not fit is
//! refused, not rounded.

use std::fmt;
use std::str::FromStr;

/// A decimal number that is not negative, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decimal {
    /// The number in units of ten to the power of minus `places`; no trailing zero if that is
    /// more than 0.
    digits: u128,
    /// How many of the digits are behind the point.
    places: u32,
}

/// Why a text is no count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecimalError {
    /// Not a number, or not one that is written in a way that is understood.
    #[error("'{0}' is not a number; understood are 1234, 1,234, 12.5 and 1.5e6")]
    NoNumber(String),
    /// A comma where it does not separate thousands.
    #[error(
        "'{0}' has a comma where no thousands end, so it could mean either of two numbers; let \
         the expression capture a number with a point"
    )]
    Comma(String),
    /// A number below zero.
    #[error("'{0}' is negative, and work is not; let the expression capture another number")]
    Negative(String),
    /// More digits than can be kept.
    #[error("{0} has too many digits to be kept exactly; let the expression capture fewer")]
    TooLong(String),
}

/// The most digits that are looked at.
const LONGEST: usize = 100;

impl Decimal {
    /// Makes a decimal of a whole number.
    #[must_use]
    pub const fn whole(number: u64) -> Self {
        Self { digits: number as u128, places: 0 }
    }

    /// Whether it is nothing.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// How many digits stand behind the point.
    #[must_use]
    pub const fn places(self) -> u32 {
        self.places
    }

    /// The number in units of ten to the power of minus `places`; none if it is no whole number of
    /// them, or too large.
    #[must_use]
    pub fn in_units(self, places: u32) -> Option<u128> {
        self.digits.checked_mul(10u128.checked_pow(places.checked_sub(self.places)?)?)
    }

    /// The nearest floating-point number.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::INFINITY)
    }

    /// The sum.
    ///
    /// # Errors
    /// If it has more digits than can be kept.
    pub fn plus(self, other: Self) -> Result<Self, DecimalError> {
        let places = self.places.max(other.places);
        let sum = self
            .in_units(places)
            .zip(other.in_units(places))
            .and_then(|(left, right)| left.checked_add(right))
            .ok_or_else(|| DecimalError::TooLong(format!("the sum of {self} and {other}")))?;
        Ok(Self::normal(sum, places))
    }

    fn normal(mut digits: u128, mut places: u32) -> Self {
        while places > 0 && digits.is_multiple_of(10) {
            digits /= 10;
            places -= 1;
        }
        Self { digits, places }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places as usize;
        if places == 0 {
            return write!(f, "{}", self.digits);
        }
        let digits = format!("{:0>width$}", self.digits, width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        write!(f, "{whole}.{fraction}")
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let text = text.trim();
        let shown = || text.chars().take(LONGEST).collect::<String>();
        let no_number = || DecimalError::NoNumber(shown());
        let too_long = || DecimalError::TooLong(format!("'{}'", shown()));
        let number = text.strip_prefix('+').unwrap_or(text);
        if let Some(number) = number.strip_prefix('-') {
            return Err(match Self::from_str(number) {
                Ok(_) => DecimalError::Negative(shown()),
                Err(_) => no_number(),
            });
        }
        let (mantissa, exponent) = match number.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, parse_exponent(exponent).ok_or_else(no_number)?)
            }
            None => (number, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if (whole.is_empty() && fraction.is_empty()) || !is_digits(fraction) {
            return Err(no_number());
        }
        let whole = without_commas(whole).ok_or_else(|| match whole.split(',').all(is_digits) {
            true => DecimalError::Comma(shown()),
            false => no_number(),
        })?;
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        if digits.is_empty() {
            return Ok(Self::default());
        }
        if digits.len() > LONGEST {
            return Err(too_long());
        }
        let digits: u128 = digits.parse().map_err(|_| too_long())?;
        let places = i64::try_from(fraction.len()).map_err(|_| too_long())? - exponent;
        if places < 0 {
            let more = u32::try_from(-places).ok().and_then(|zeros| 10u128.checked_pow(zeros));
            let digits = more.and_then(|more| digits.checked_mul(more)).ok_or_else(too_long)?;
            return Ok(Self { digits, places: 0 });
        }
        let places = u32::try_from(places).map_err(|_| too_long())?;
        let normal = Self::normal(digits, places);
        if normal.places as usize > LONGEST { Err(too_long()) } else { Ok(normal) }
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A power of ten, as it is written after `e`.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !is_digits(digits) {
        return None;
    }
    // A power beyond all bounds is still a number; it only cannot be kept.
    let power = digits.parse().unwrap_or(i64::from(i32::MAX)).min(i64::from(i32::MAX));
    Some(if text.starts_with('-') { -power } else { power })
}

/// A whole number without the commas between its thousands.
fn without_commas(text: &str) -> Option<String> {
    let mut groups = text.split(',');
    let first = groups.next()?;
    let mut digits = first.to_owned();
    let mut grouped = false;
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        digits.push_str(group);
        grouped = true;
    }
    let fits = !grouped || (1..=3).contains(&first.len());
    (fits && is_digits(&digits)).then_some(digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(text: &str) -> String {
        text.parse::<Decimal>().expect(text).to_string()
    }

    #[test]
    fn numbers_are_kept_as_they_are_written() {
        for (text, kept) in [
            ("0", "0"),
            ("007", "7"),
            ("1,234,567", "1234567"),
            ("1.5e6", "1500000"),
            ("1.5E-2", "0.015"),
            ("20833.410", "20833.41"),
            ("0.30000000000000004", "0.30000000000000004"),
            (".5", "0.5"),
            ("5.", "5"),
            ("+3", "3"),
            ("0e999999999999999999999", "0"),
            ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
        ] {
            assert_eq!(number(text), kept, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused_by_name() {
        let refused = |text: &str| text.parse::<Decimal>().expect_err(text);
        for text in ["", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "1 000", "nan", "inf", "--1", "١"]
        {
            assert_eq!(refused(text), DecimalError::NoNumber(text.into()));
        }
        for text in ["1,5", "12,34", ",123", "1234,567", "1,,234"] {
            assert_eq!(refused(text), DecimalError::Comma(text.into()));
        }
        assert_eq!(refused("-3"), DecimalError::Negative("-3".into()));
        for text in ["340282366920938463463374607431768211456", "1e39", "1e-101", "1e999999999999"]
        {
            assert!(matches!(refused(text), DecimalError::TooLong(_)), "{text}");
        }
    }

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        let large: Decimal = "3e38".parse().unwrap();
        assert!(matches!(large.plus(large), Err(DecimalError::TooLong(_))));
        let small: Decimal = "0.1".parse().unwrap();
        assert!(matches!(large.plus(small), Err(DecimalError::TooLong(_))));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[0-9,.eE+ -]{0,12}|\\PC{0,40}") {
            if let Ok(decimal) = text.parse::<Decimal>() {
                prop_assert_eq!(decimal.to_string().parse(), Ok(decimal));
            }
        }

        #[test]
        fn sums_are_exact(left in 0u64..1 << 53, right in 0u64..1 << 53, places in 0u32..12) {
            let decimal = |digits: u64| format!("{digits}e-{places}").parse::<Decimal>().unwrap();
            let sum = decimal(left).plus(decimal(right)).unwrap();
            prop_assert_eq!(sum, decimal(left + right));
        }
    }
}
