//! Why a program could not be measured.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use kilocore_lock_profile::RecordingError;
use kilocore_lock_watcher::WatchError;

/// Why a program could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// No program was named.
    #[error("no program to measure; name one after `--`")]
    NoProgram,
    /// The library is not where it should be.
    #[error("{}: {source}; build the measuring library, or name the one to use", library.display())]
    Library {
        /// Where it should be.
        library: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("{}: {source}; name a program that exists and may be executed", program.to_string_lossy())]
    Start {
        /// The program, as it was named.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// There is no room for recordings.
    #[error("{}: {source}; a directory for recordings is needed, TMPDIR can name another", directory.display())]
    Directory {
        /// Where they were to be.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was recorded cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// It cannot be watched from outside.
    #[error(transparent)]
    Watch(#[from] WatchError),
}
