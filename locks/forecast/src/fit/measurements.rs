//! Reads the throughputs that somebody has measured, from CSV or JSON.
//!
//! # CSV
//! A line of names comes first, then a row for each measurement:
//!
//! ```text
//! lock,cores,throughput
//! mcs,6,20
//! ticket,6,10
//! ```
//!
//! The columns `lock`, `cores` and `throughput` are required, in any order. A column `threads`, if
//! there is one, must say the same as `cores`. Columns are separated by commas, semicolons or tabs.
//! Spaces, blank lines, lines that begin with `#`, a byte order mark and all kinds of line ends are
//! allowed.
//!
//! # JSON
//! The document is an array of objects with those keys, or an object whose `points` are such an
//! array:
//!
//! ```text
//! [{"lock":"mcs","cores":6,"throughput":20},{"lock":"ticket","cores":6,"throughput":10}]
//! ```
//!
//! `kilocore forecast --json` prints an object of the second kind. From such an object the `given`
//! throughputs are read, not the forecast ones.
//!
//! # How rows become points
//! A row that cannot be used is left out, and the reason is reported. If a lock was measured
//! several times on the same number of cores, the median is used. A lock under two names counts as
//! two locks.

mod document;
mod error;
mod row;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use kilocore_locks::LockId;
use serde::Serialize;

pub use error::ReadError;

/// The throughput that was measured under one lock on one number of cores.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The lock, as Kilocore knows it.
    pub lock: LockId,
    /// The name of the lock in the input, if that is another name.
    pub alias: Option<String>,
    /// How many cores there were, each with one thread.
    pub cores: u32,
    /// The throughput, larger than zero. The unit is the same for all measurements.
    pub throughput: f64,
}

/// The place in the input of something that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputPlace {
    /// A line of a file, from 1.
    Line(u64),
    /// A point of a JSON document, from 0.
    Point(u64),
    /// Columns, or keys, of these names.
    Columns(Vec<String>),
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
            InputPlace::Point(index) => write!(f, "point {index} (from 0)"),
            InputPlace::Columns(names) if names.len() == 1 => write!(f, "column {}", names[0]),
            InputPlace::Columns(names) => write!(f, "columns {}", names.join(", ")),
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

/// All that was measured of a program on a machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measurements {
    /// The points, sorted by lock, alias and cores. No two points agree in all three.
    pub points: Vec<Measurement>,
    /// What was left out: columns that are not needed, then rows in the order of the file.
    pub left_out: Vec<LeftOut>,
}

/// The largest file that is read. A measurement takes some dozen bytes.
const MOST_BYTES: u64 = 64 << 20;

impl Measurements {
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

    /// Reads the content of a file. It is read as JSON if it begins like JSON, and as CSV
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

    /// Returns whether a text begins like a table of measurements: with a line of names, at least two of
    /// which are of columns that are required.
    #[must_use]
    pub fn has_columns(text: &str) -> bool {
        table::has_columns(text)
    }

    /// Removes the points on more cores than the machine has hardware threads, and notes them as
    /// left out.
    ///
    /// # Errors
    /// [`ReadError`] if nothing is left.
    pub fn leave_out_beyond(
        &mut self,
        machine: &str,
        hardware_threads: u32,
    ) -> Result<(), ReadError> {
        let (kept, beyond): (_, Vec<Measurement>) =
            std::mem::take(&mut self.points).into_iter().partition(|p| p.cores <= hardware_threads);
        self.points = kept;
        if self.points.is_empty() {
            let machine = machine.to_owned();
            return Err(ReadError::beyond(machine, hardware_threads, &self.left_out));
        }
        self.left_out.extend(beyond.into_iter().map(|point: Measurement| LeftOut {
            place: InputPlace::Of { lock: point.name().to_owned(), cores: point.cores },
            why: format!("{machine} has {hardware_threads} hardware threads"),
        }));
        Ok(())
    }
}

impl Measurement {
    /// The name of the lock in the input.
    #[must_use]
    pub fn name(&self) -> &str {
        self.alias.as_deref().unwrap_or(self.lock.name())
    }
}

/// The rows that were read so far.
#[derive(Debug, Default)]
struct Rows {
    points: Vec<Measurement>,
    left_out: Vec<LeftOut>,
}

impl Rows {
    /// Adds a row, or notes why it is left out.
    fn take(&mut self, place: InputPlace, row: Result<Measurement, String>) {
        match row {
            Ok(point) => self.points.push(point),
            Err(why) => self.left_out.push(LeftOut { place, why }),
        }
    }

    /// Notes that these columns are not needed.
    fn ignore_columns(&mut self, names: Vec<String>) {
        if !names.is_empty() {
            let why = "not needed for a fit".to_owned();
            self.left_out.push(LeftOut { place: InputPlace::Columns(names), why });
        }
    }

    /// Sorts the points and puts the median in the place of repeated measurements.
    fn finish(mut self) -> Result<Measurements, ReadError> {
        if self.points.is_empty() {
            self.left_out.retain(|left_out| !matches!(left_out.place, InputPlace::Columns(_)));
            return Err(ReadError::nothing_usable(&self.left_out));
        }
        let key = |p: &Measurement| (p.lock, p.alias.clone(), p.cores);
        self.points.sort_by(|a, b| key(a).cmp(&key(b)).then(a.throughput.total_cmp(&b.throughput)));
        let median = |repeats: &[Measurement]| {
            let upper = &repeats[repeats.len() / 2];
            let lower = &repeats[(repeats.len() - 1) / 2];
            // Halved first, so that the sum cannot overflow.
            let throughput = lower.throughput.midpoint(upper.throughput);
            Measurement { throughput, ..upper.clone() }
        };
        let points = self.points.chunk_by(|a, b| key(a) == key(b)).map(median).collect();
        Ok(Measurements { points, left_out: self.left_out })
    }
}
