//! A QEMU that takes plugins.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kilocore_process::find_program;

use crate::QemuError;
use crate::build::built;

/// Finds a QEMU that takes plugins: this one, or `qemu-x86_64` as programs are looked for, or else the one that this
/// user has [built](crate::build()). Each is asked for its help.
///
/// # Errors
/// If there is none, or it cannot be started, or takes no plugins.
pub fn find(named: Option<&Path>) -> Result<PathBuf, QemuError> {
    let Some(named) = named else {
        let installed = find_program(OsStr::new("qemu-x86_64")).map_err(|_| QemuError::NoQemu);
        return installed
            .and_then(taking_plugins)
            .or_else(|why| taking_plugins(built().ok_or(why)?));
    };
    let found = find_program(named.as_os_str());
    taking_plugins(found.map_err(|source| QemuError::Start { qemu: named.to_owned(), source })?)
}

/// The folder in which a QEMU looks first for each file that a program names by a path from the root, unless
/// somebody says otherwise; mostly it is not there. None if its help does not say.
#[must_use]
pub fn looks_first_in(qemu: &Path) -> Option<PathBuf> {
    let help = String::from_utf8(help(qemu).ok()?).ok()?;
    let folder = |line: &str| {
        let value = line.strip_prefix("QEMU_LD_PREFIX")?.trim_start().strip_prefix('=')?;
        Some(PathBuf::from(value.trim())).filter(|path| path.is_absolute())
    };
    help.lines().find_map(folder)
}

/// What a QEMU says of its options.
fn help(qemu: &Path) -> Result<Vec<u8>, QemuError> {
    let help = Command::new(qemu).arg("-help").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let help = help.map_err(|source| QemuError::Start { qemu: qemu.to_owned(), source })?;
    Ok(help.stdout)
}

/// This QEMU, if it takes plugins.
fn taking_plugins(qemu: PathBuf) -> Result<PathBuf, QemuError> {
    let help = help(&qemu)?;
    let takes = help.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"-plugin"));
    if takes { Ok(qemu) } else { Err(QemuError::NoPlugins { qemu }) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Only this test starts something: a process that another test started meanwhile would have the
    /// script open for writing.
    #[test]
    fn a_qemu_is_asked_whether_it_takes_plugins() {
        let folder = tempfile::tempdir().expect("there is room");
        let qemu = |name: &str, help: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\necho '{help}'\n")).expect("there is room");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
            path
        };
        let (with, without) =
            (qemu("with", "-plugin [file=]<file>"), qemu("without", "-cpu model"));
        let says = qemu("says", "-L path\nDefaults:\nQEMU_LD_PREFIX  = /etc/qemu-binfmt/x86_64");
        assert_eq!(looks_first_in(&says), Some("/etc/qemu-binfmt/x86_64".into()));
        assert_eq!(looks_first_in(&with), None);
        assert_eq!(find(Some(&with)).expect("it takes plugins"), with);
        let error = find(Some(&without)).expect_err("it takes none");
        assert!(matches!(&error, QemuError::NoPlugins { qemu } if *qemu == without), "{error}");
        let missing = folder.path().join("missing");
        let error = find(Some(&missing)).expect_err("it is not there");
        assert!(matches!(&error, QemuError::Start { qemu, .. } if *qemu == missing), "{error}");
    }
}
