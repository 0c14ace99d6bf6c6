//! All recordings of a directory at once.

use std::path::Path;

use crate::recording::{ClockRate, RecordingError};
use crate::{Process, Snapshot};

/// Reads all recordings of `directory`, in the order of their names. Processes that took no lock
/// and met at no barrier are left out. Files with another ending than
/// [`RECORDING_EXTENSION`](crate::RECORDING_EXTENSION) are not looked at.
///
/// `clock` is the rate of the time-stamp counter. If the caller does not know it, it is taken from
/// the recording that observed it longest.
///
/// # Errors
/// If the directory or a recording cannot be read. That a process ended in the middle of something
/// is no error.
pub fn read_directory(
    directory: &Path,
    clock: Option<ClockRate>,
) -> Result<Vec<Process>, RecordingError> {
    Ok(Snapshot::read(directory)?.processes(None, clock))
}
