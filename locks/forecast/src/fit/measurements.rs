//! Reads the throughputs that somebody has measured, from a table in text or from JSON.
//!
//! # Tables
//! What separates the fields is found (`separator.rs`), and so is how figures are written (`number.rs`),
//! which column holds what (`column.rs`, `shape.rs`) and how throughputs follow from times (`unit.rs`).
//! A table is long, with a row for each measurement,
//!
//! ```text
//! lock,cores,throughput
//! mcs,6,20
//! ticket,6,10
//! ```
//!
//! or wide, with a column for each variant, or it has no names at all:
//!
//! ```text
//! threads;mutex;spin lock
//! 1;1.234.567,5;1.200.000
//! ```
//!
//! # JSON
//! The document is an array of objects, or an object whose `points` are such an array:
//!
//! ```text
//! [{"lock":"mcs","cores":6,"throughput":20},{"lock":"ticket","cores":6,"throughput":10}]
//! ```
//!
//! `kilocore forecast --json` prints an object of the second kind. From such an object the `given`
//! throughputs are read, not the forecast ones.
//!
//! # How rows become points
//! A field that cannot be used is left out, and the reason is reported. If a variant was measured
//! several times on the same number of cores, the median is used. A variant that has the name of a lock,
//! or is said to be one, is that lock. A lock under two names counts as two.
//!
//! # Decisions
//! * **Nothing is guessed in silence.** `1,234` is refused unless other figures tell what the comma does.
//!   What is taken to be so though the table does not say it, such as that a time is of a fixed amount of
//!   work, is told ([`MeasuredTable::assumed`]).
//! * **One bad figure does not spoil a table.** It is left out and named, as people's tables have gaps.
//! * **Fields are not split by the crate `csv`.** It has no runs of blanks, no bars around rows and no
//!   columns in its errors.

mod cell;
mod clock;
mod column;
mod document;
mod error;
mod go_bench;
mod markdown;
mod measured;
mod number;
mod place;
mod records;
mod row;
mod rows;
mod separator;
mod shape;
mod table;
#[cfg(test)]
mod tests;
mod unit;
mod variants;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use error::ReadError;
pub use measured::{Measurement, Measurements};
pub use place::{InputPlace, LeftOut};
pub use variants::{MeasuredTable, Variant, VariantPoint};

/// The largest file that is read. A measurement takes some dozen bytes.
const MOST_BYTES: u64 = 64 << 20;

impl MeasuredTable {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ReadError`] if the file cannot be read or holds nothing that can be used. The error does
    /// not name the file; the caller does.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(ReadError::TooLarge(MOST_BYTES >> 20));
        }
        Self::parse(&bytes)
    }

    /// Reads the content of a file. It is read as JSON if it begins like JSON, and as a table
    /// otherwise.
    ///
    /// # Errors
    /// [`ReadError`] if nothing in it can be used.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        let text = error::text_of(bytes)?;
        let rows = match text.trim_start().bytes().next() {
            None => return Err(ReadError::Empty),
            Some(b'[' | b'{') => document::read(text)?,
            Some(_) => table::read(text)?,
        };
        rows.finish()
    }

    /// Returns whether a text begins like a table of measurements: with the names of columns that count
    /// threads and hold throughputs, or with rows of figures alone.
    #[must_use]
    pub fn is_likely(text: &str) -> bool {
        table::is_likely(text)
    }
}

impl Measurements {
    /// Reads the content of a file in which locks were measured.
    ///
    /// # Errors
    /// [`ReadError`] if no measurement of a lock in it can be used.
    pub fn parse(bytes: &[u8]) -> Result<Self, ReadError> {
        MeasuredTable::parse(bytes)?.measurements()
    }
}
