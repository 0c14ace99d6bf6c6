//! Values of a plan's variables.

use std::fmt;

use toml::Value as Toml;

/// A value: its text as it is put into a command.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(String);

impl Value {
    /// The value of a number, a text or a truth value. `None` for anything else.
    pub(crate) fn of(toml: &Toml) -> Option<Self> {
        match toml {
            Toml::String(text) => Some(Self(text.clone())),
            Toml::Integer(number) => Some(Self(number.to_string())),
            Toml::Float(number) if number.is_finite() => Some(Self(number.to_string())),
            Toml::Boolean(truth) => Some(Self(truth.to_string())),
            _ => None,
        }
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number that the text is, if it is one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.0.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Whether both stand for the same: numbers by what they are, so that `8` is `8.0`.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self == other || self.number().is_some_and(|number| other.number() == Some(number))
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self(number.to_string())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
