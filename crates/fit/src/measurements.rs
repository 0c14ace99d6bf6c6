//! Throughputs that somebody has measured.

use kilocore_locks::LockId;
use thiserror::Error;

/// One measured throughput.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The lock, as Kilocore knows it.
    pub lock: LockId,
    /// The name under which it came, if that is another one.
    pub alias: Option<String>,
    /// Cores, each with one thread.
    pub cores: u32,
    /// In any unit, the same for all measurements; larger than zero.
    pub throughput: f64,
}

/// A row that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its line in the file, from 1, or its index in a JSON document, from 0.
    pub place: u64,
    /// Why, in a sentence without a full stop.
    pub why: String,
}

/// All that was measured of a program on a machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measurements {
    /// Sorted by lock, alias and cores; no two with the same three.
    pub points: Vec<Measurement>,
    /// Rows that were left out, in the order of the file.
    pub left_out: Vec<LeftOut>,
}

/// Why measurements could not be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}
