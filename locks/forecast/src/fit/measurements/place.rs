//! Places in the input, and what was left out there.

use std::fmt;

use serde::Serialize;

/// The place in the input of something that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputPlace {
    /// A line of a file, from 1.
    Line(u64),
    /// A field of a table.
    Field {
        /// Its line, from 1.
        line: u64,
        /// Its column, from 1.
        column: u64,
    },
    /// A point of a JSON document, from 0.
    Point(u64),
    /// Columns, or keys, of these names.
    Columns(Vec<String>),
    /// All of a variant.
    Variant(String),
    /// All rows of a lock on some number of cores.
    Of {
        /// The name of the lock in the input.
        lock: String,
        /// The number of cores in the input.
        cores: u32,
    },
}

impl fmt::Display for InputPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputPlace::Line(line) => write!(f, "line {line}"),
            InputPlace::Field { line, column } => write!(f, "line {line}, column {column}"),
            InputPlace::Point(index) => write!(f, "point {index} (from 0)"),
            InputPlace::Columns(names) if names.len() == 1 => write!(f, "column {}", names[0]),
            InputPlace::Columns(names) => write!(f, "columns {}", names.join(", ")),
            InputPlace::Variant(name) => write!(f, "variant {name}"),
            InputPlace::Of { lock, cores } => write!(f, "{lock} on {cores} cores"),
        }
    }
}

/// Something in the input that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its place in the input.
    #[serde(flatten)]
    pub place: InputPlace,
    /// Why, in a sentence without a full stop.
    pub why: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}
