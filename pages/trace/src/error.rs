//! Why a trace cannot be written.

use std::io;
use std::path::PathBuf;

use crate::Misuse;

/// Why a trace cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The system refuses to create or to write the file.
    #[error("{}: {source}; the trace was not written, choose a place that has room and may be written to", file.display())]
    Output {
        /// The path of the file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An event breaks a promise of traces.
    #[error("event {number} {misuse}, which no trace may have")]
    Impossible {
        /// The number of the event, counted from 1.
        number: u64,
        /// What is wrong with it.
        misuse: Misuse,
    },
    /// An event is older than the one before it.
    #[error("event {number} is older than the one before it, which no trace may have")]
    Backwards {
        /// The number of the event, counted from 1.
        number: u64,
    },
    /// An event names a thread or cpu beyond the last that there can be.
    #[error("event {number} has a thread or cpu beyond the last that there can be")]
    Beyond {
        /// The number of the event, counted from 1.
        number: u64,
    },
    /// What the trace says of itself is too long.
    #[error("the command and the remarks are longer than a trace's header may be")]
    Header,
}
