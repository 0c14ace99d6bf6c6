//! New files, which get their name when they are whole.

use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Lets others read a temporary file, as far as the user lets new files be.
///
/// # Errors
/// The system's.
pub fn readable(file: &File) -> io::Result<()> {
    // The only way to ask for the mask is to set it, which other threads would notice.
    let mask = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
        u32::from_str_radix(line.trim(), 8).ok()
    });
    file.set_permissions(Permissions::from_mode(0o666 & !mask.unwrap_or(0o077)))
}

/// Returns the folder that a path names a file in.
#[must_use]
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
