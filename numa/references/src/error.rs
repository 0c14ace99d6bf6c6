//! Why a file of references cannot be written.

use std::io;
use std::path::PathBuf;

/// Why a file cannot be written.
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
    /// What the trace says of itself is too long.
    #[error("the command and the remarks are longer than a trace's header may be")]
    Header,
    /// An event names a thread or page beyond the last that there can be.
    #[error("event {number} has a thread or a page beyond the last that there can be")]
    Beyond {
        /// The number of the event, counted from 1.
        number: u64,
    },
}
