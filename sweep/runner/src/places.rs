//! Where a sweep has its own files.

use std::io;
use std::path::{Path, PathBuf};

use kilocore_kept_files::own_folder_in;

/// The folder of a sweep's own files, in that of its answers.
pub(crate) const OWN: &str = ".sweep";

/// The folder in that in which points are, too.
const PROGRAM: &str = "kilocore";

/// What a folder is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// What nobody needs after a sweep's end.
    Running,
    /// What tasks of a batch system are given, and what they report.
    Arrays,
    /// Copies of programs for the nodes of a cluster.
    Programs,
}

/// A folder among a sweep's own. It is made if it is not there.
///
/// # Errors
/// If somebody else can write to it, or those of the system.
pub(crate) fn folder(own: &Path, purpose: Purpose) -> io::Result<PathBuf> {
    let name = match purpose {
        Purpose::Running => "running",
        Purpose::Arrays => "arrays",
        Purpose::Programs => "programs",
    };
    own_folder_in(own, PROGRAM, name)
}
