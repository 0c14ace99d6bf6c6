//! Where journals lie.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

/// Folders in which this user may have journals, the best first.
pub(crate) fn folders() -> Vec<PathBuf> {
    // SAFETY: takes no argument.
    let user = unsafe { libc::geteuid() };
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let parents = runtime.into_iter().filter(|path| path.is_absolute());
    let parents = parents.chain([format!("/run/user/{user}").into(), "/tmp".into()]);
    parents.map(|parent: PathBuf| parent.join(format!("kilocore-sched-{user}"))).collect()
}

/// Makes the first folder that can be made, and that nobody else can write to.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in folders() {
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => last = error,
            _ if is_ours(&folder) => return Ok(folder),
            _ => last = io::Error::from(io::ErrorKind::PermissionDenied),
        }
    }
    Err(last)
}

/// Whether a folder is this user's and nobody else may write there.
pub(crate) fn is_ours(folder: &std::path::Path) -> bool {
    // SAFETY: takes no argument.
    let user = unsafe { libc::geteuid() };
    fs::symlink_metadata(folder)
        .is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0)
}
