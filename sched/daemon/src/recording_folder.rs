//! The folder in which the measuring library records.
//!
//! Its path is chosen before it is made, so that a journal can say that it has to go before it is there.

use std::io;
use std::path::{Path, PathBuf};

/// A path for a folder, in memory if possible, in which nothing is made yet.
///
/// # Errors
/// If there is no place whose name the library and a journal understand.
pub fn recordings_folder() -> io::Result<PathBuf> {
    kilocore_process::recording_folder::choose()
}

/// Removes a folder and all that is in it. A path that is not of the form of one that was chosen, and a
/// folder of another user, stay as they are, whatever a journal says.
pub(crate) fn remove(folder: &Path) {
    kilocore_process::recording_folder::remove(folder);
}
