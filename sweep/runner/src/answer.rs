//! Where the answer of a run is written.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use kilocore_sweep_plan::Answer;
use tempfile::NamedTempFile;

/// Makes the folders of a run's files.
pub(crate) fn make_folders(folder: &Path, answer: &Answer) -> io::Result<()> {
    let parents = answer.files().iter().filter_map(|file| file.parent());
    parents.map(|parent| folder.join(parent)).try_for_each(fs::create_dir_all)
}

/// What was printed is the answer, if it has no other file.
pub(crate) fn put_in_place(
    folder: &Path,
    answer: &Answer,
    printed: NamedTempFile,
) -> io::Result<()> {
    match answer {
        Answer::Printed(file) => {
            printed.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
            printed.persist(folder.join(file))?;
            Ok(())
        }
        Answer::Reports(_) => Ok(()),
    }
}
