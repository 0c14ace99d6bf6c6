//! Parameters of experiments, as they are shown to readers.

use serde::Serialize;

/// A parameter as it is shown to readers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// What the parameter is.
    pub name: &'static str,
    /// Its value, with its unit.
    pub value: String,
    /// Where it comes from.
    pub source: &'static str,
}
