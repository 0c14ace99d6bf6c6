//! The folder in which the measuring library records.
//!
//! Its path is chosen before it is made, so that a journal can say that it has to go before it is there. It
//! lies in memory if possible: a mapped file on a disk would be written back again and again.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use kilocore_proc_files::monotonic;

/// The library ignores folders with longer paths.
const LONGEST: usize = 900;

/// A path for a folder, in memory if possible, in which nothing is made yet.
///
/// # Errors
/// If there is no place whose name the library and a journal understand.
pub fn recordings_folder() -> io::Result<PathBuf> {
    let memory = Path::new("/dev/shm");
    let parent = match std::env::var_os("TMPDIR") {
        None if memory.is_dir() => memory.to_owned(),
        _ => std::env::temp_dir().canonicalize()?,
    };
    let name = format!("kilocore-sched-{}-{}", std::process::id(), monotonic().as_nanos());
    let folder = parent.join(name);
    let text = folder.to_str().filter(|text| !text.contains('\n') && text.len() < LONGEST);
    let strange = || io::Error::other(format!("TMPDIR is {parent:?}: choose a simpler path"));
    text.map(PathBuf::from).ok_or_else(strange)
}

/// Makes it.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)?;
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } == 0 {
        // A service that gives up its rights must still be able to record.
        fs::set_permissions(folder, Permissions::from_mode(0o1733))?;
    }
    Ok(())
}

/// Removes a folder and all that is in it. Programs that still record may add files meanwhile.
pub(crate) fn remove(folder: &Path) {
    for _ in 0..100 {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}
