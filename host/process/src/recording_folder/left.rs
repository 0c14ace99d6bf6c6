//! Folders that were left behind by a Kilocore that was killed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::recording_folder::held::{lock, open};
use crate::recording_folder::names;

/// Removes the folders in `parent` that this user has made and that nobody holds.
///
/// Another user may own things of the same name, and may exchange them at any time. So the owner is
/// that of the folder that was opened, and it is removed only if the parent lets nobody exchange it:
/// it belongs to this user or to root, and others may either not write in it or have no rights on
/// what is not theirs (the sticky bit).
pub(crate) fn remove_all(parent: &Path) {
    // SAFETY: takes no argument.
    let own = unsafe { libc::geteuid() };
    let is_safe = |status: fs::Metadata| {
        let (writable, sticky) = (status.mode() & 0o022 != 0, status.mode() & 0o1000 != 0);
        (status.uid() == own || status.uid() == 0) && (!writable || sticky)
    };
    if !parent.metadata().is_ok_and(is_safe) {
        return;
    }
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(names::is_outer) {
            continue;
        }
        let path = entry.path();
        let Ok(folder) = open(&path) else { continue };
        if folder.metadata().is_ok_and(|status| status.uid() == own)
            && lock(&folder, libc::LOCK_EX | libc::LOCK_NB).is_ok()
        {
            let _ = fs::remove_dir_all(&path);
        }
    }
}
