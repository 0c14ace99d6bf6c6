//! Units of work, counted without losing a digit.

use std::fmt;
use std::str::FromStr;

use kilocore_figures::decimal::{Decimal, DecimalError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// How much work a run did, in millionths of a unit: from one millionth to some million million
/// units. Whole numbers of millionths, so that losses add up exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Work(u64);

/// Why something is no amount of work.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkError {
    /// Not a decimal number.
    #[error("'{0}' is not a number of units; write digits, as in 120000 or 1.5e6")]
    NotANumber(String),
    /// Zero units, by which nothing can be divided.
    #[error("no work at all cannot be divided by; count what the program did")]
    None,
    /// Digits beyond the sixth place.
    #[error("'{0}' has more than six decimal places; count in smaller units")]
    TooFine(String),
    /// Too much to count.
    #[error("'{0}' is more than can be counted; count in larger units")]
    TooMuch(String),
}

impl Work {
    const PLACES: u32 = 6;
    const MILLION: u64 = 10_u64.pow(Self::PLACES);
    /// With this, products of work and time fit into 128 bits.
    const MOST: u64 = 1 << 62;

    /// One unit: what a run is taken to have done if nobody counted.
    #[must_use]
    pub fn one() -> Self {
        Self(Self::MILLION)
    }

    /// So many whole units.
    ///
    /// # Errors
    /// [`WorkError::None`] if there are none, [`WorkError::TooMuch`] if there are more than some
    /// million million.
    pub fn units(units: u64) -> Result<Self, WorkError> {
        let millionths = units.checked_mul(Self::MILLION).filter(|&m| m <= Self::MOST);
        match millionths {
            Some(0) => Err(WorkError::None),
            Some(millionths) => Ok(Self(millionths)),
            None => Err(WorkError::TooMuch(units.to_string())),
        }
    }

    /// In millionths of a unit.
    #[must_use]
    pub fn millionths(self) -> u64 {
        self.0
    }

    /// The amount of work, in its units.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / Self::MILLION as f64
    }

    /// The work of two runs together.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).filter(|&sum| sum <= Self::MOST).map(Self)
    }
}

impl FromStr for Work {
    type Err = WorkError;

    /// Reads a decimal number, with an exponent if there is one.
    fn from_str(text: &str) -> Result<Self, WorkError> {
        let too_fine = || WorkError::TooFine(text.to_owned());
        let too_much = || WorkError::TooMuch(text.to_owned());
        let no_number = || WorkError::NotANumber(text.to_owned());
        // What programs print is read more leniently than what people type.
        if text.starts_with('+') || text.contains(',') || text.trim() != text {
            return Err(no_number());
        }
        let units: Decimal = text.parse().map_err(|error| match error {
            DecimalError::TooLong(_) if text.parse().is_ok_and(|units: f64| units < 1.0) => {
                too_fine()
            }
            DecimalError::TooLong(_) => too_much(),
            _ => no_number(),
        })?;
        if units.is_zero() {
            return Err(WorkError::None);
        }
        if units.places() > Self::PLACES {
            return Err(too_fine());
        }
        let millionths = units.in_units(Self::PLACES).and_then(|m| u64::try_from(m).ok());
        millionths.filter(|&m| m <= Self::MOST).map(Self).ok_or_else(too_much)
    }
}

impl fmt::Display for Work {
    /// The shortest decimal number that is exactly this.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / Self::MILLION, self.0 % Self::MILLION);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let fraction = format!("{rest:06}");
        write!(f, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

impl Serialize for Work {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// A number in a document: as a text, which keeps all digits, or as a whole number.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number of units, whole or as text: 120000 or \"1234.5\"")]
enum Written {
    Text(String),
    Whole(u64),
}

impl<'de> Deserialize<'de> for Work {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match Written::deserialize(from)? {
            Written::Text(text) => text.parse().map_err(de::Error::custom),
            Written::Whole(units) => Self::units(units).map_err(de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_numbers_are_read_exactly() {
        let read = |text: &str| text.parse::<Work>().map(Work::millionths);
        assert_eq!(read("120000"), Ok(120_000_000_000));
        assert_eq!(read("1.5e6"), Ok(1_500_000_000_000));
        assert_eq!(read("0.000001"), Ok(1));
        assert_eq!(read("007.250"), Ok(7_250_000));
        assert_eq!(read("12e-1"), Ok(1_200_000));
        assert_eq!(read(".5"), Ok(500_000));
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        for text in ["", "x", "1,000", "-3", "1e", "1.2.3", "0x10", "inf", "NaN", "+5"] {
            assert_eq!(text.parse::<Work>(), Err(WorkError::NotANumber(text.into())), "{text}");
        }
        assert_eq!("0.000".parse::<Work>(), Err(WorkError::None));
        assert_eq!("0e99".parse::<Work>(), Err(WorkError::None));
        assert_eq!("0.0000001".parse::<Work>(), Err(WorkError::TooFine("0.0000001".into())));
        assert_eq!("1e-101".parse::<Work>(), Err(WorkError::TooFine("1e-101".into())));
        assert_eq!("1e99".parse::<Work>(), Err(WorkError::TooMuch("1e99".into())));
        let digits = "9".repeat(30);
        assert_eq!(digits.parse::<Work>(), Err(WorkError::TooMuch(digits.clone())));
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_is_read_again(millionths in 1..=Work::MOST) {
            let work = Work(millionths);
            assert_eq!(work.to_string().parse(), Ok(work));
        }

        #[test]
        fn no_text_is_too_much(text in ".{0,40}") {
            let _ = text.parse::<Work>();
        }
    }
}
