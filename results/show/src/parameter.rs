//! Parameters of a simulation, as they are shown to readers.

use serde::Serialize;

/// A parameter of a simulation, with where its value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// What the parameter is.
    pub name: String,
    /// Its value, with its unit.
    pub value: String,
    /// Where it comes from.
    pub source: String,
}

impl Parameter {
    /// Makes a parameter of its three texts.
    #[must_use]
    pub fn new(name: &str, value: String, source: &str) -> Self {
        Self { name: name.to_owned(), value, source: source.to_owned() }
    }
}
