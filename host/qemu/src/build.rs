//! A QEMU of the user's own, for systems whose own takes no plugins.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use kilocore_kept_files::own_folder;

use crate::QemuError;

/// What builds it. It is told the folder.
const SCRIPT: &str = include_str!("../build-qemu.sh");
/// The folder in the user's cache, and where QEMU is in it.
const FOLDER: (&str, &str) = ("kilocore", "qemu");
const BUILT: &str = "bin/qemu-x86_64";

fn folder() -> Result<PathBuf, QemuError> {
    own_folder(FOLDER.0, FOLDER.1).map_err(QemuError::Cache)
}

/// The QEMU that was [built](build) before, if there is one.
pub(crate) fn built() -> Option<PathBuf> {
    let path = folder().ok()?.join(BUILT);
    path.is_file().then_some(path)
}

/// Builds a QEMU that takes plugins from the source package of this Debian, in the user's cache. Returns its path.
/// [`find`](crate::find()) finds it from then on, if the one that is installed takes no plugins. What it is doing is
/// written to standard error. It takes minutes, and after an interruption it goes on where it was.
///
/// # Errors
/// If the folder is not for this user alone, something that the build needs is missing, or the build fails.
pub fn build() -> Result<PathBuf, QemuError> {
    let folder = folder()?;
    // One at a time: the descriptor is closed, and the lock gone, when this process ends.
    let lock = File::create(folder.join("lock")).map_err(QemuError::Cache)?;
    lock.lock().map_err(QemuError::Cache)?;
    let status = Command::new("/bin/sh")
        .args(["-c", SCRIPT, "build-qemu"])
        .arg(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(QemuError::Cache)?;
    let built = folder.join(BUILT);
    if status.success() { Ok(built) } else { Err(QemuError::NotBuilt { folder }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_build_needs_is_named_before_anything_is_made() {
        let folder = tempfile::tempdir().expect("there is room");
        let mut shell = Command::new("/bin/sh");
        let shell = shell.args(["-c", SCRIPT, "build-qemu"]).arg(folder.path());
        let output = shell.env("PATH", folder.path()).output().expect("there is a shell");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("apt install dpkg-dev gcc") || said.contains("--qemu"), "{said}");
        assert_eq!(folder.path().read_dir().expect("it is there").count(), 0);
    }
}
