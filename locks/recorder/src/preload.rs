//! Putting the measuring library under a program.

use std::ffi::OsString;
use std::path::Path;

/// The variable that says where to record to.
pub(crate) const FOLDER: &str = "KILOCORE_MEASURE_DIR";

/// Returns the environment variables with which a program loads the library and records into a
/// directory.
#[must_use]
pub fn measuring(library: &Path, recordings: &Path) -> Vec<(OsString, OsString)> {
    let mut environment = kilocore_process::preload_environment(library);
    environment.push((FOLDER.into(), recordings.into()));
    environment
}
