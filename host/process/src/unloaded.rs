//! A program that its dynamic linker did not let begin, because a library that it needs is not there.
//!
//! The linker says so on standard error, perhaps between other lines, and ends with a status that programs
//! have, too. So the linker is asked once more, without the program.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::executable::{self, Beginning};
use crate::find_program;

/// The statuses with which glibc's dynamic linker ends: that a library is not there, or is too old.
const STATUSES: [i32; 2] = [127, 1];

/// Why a program was not loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unloaded {
    /// These libraries are not there.
    Missing(Vec<String>),
    /// What the dynamic linker says.
    Refused(String),
}

/// Returns what kept the dynamic linker from loading a program that ended with this status, if that is how
/// it ended. A program that is not linked dynamically, with glibc, never ends so.
#[must_use]
pub fn why_unloaded(program: &OsStr, status: i32) -> Option<Unloaded> {
    if !STATUSES.contains(&status) {
        return None;
    }
    let path = find_program(program).ok()?;
    if !Beginning::of(&path).is_ok_and(|beginning| beginning.runs_here()) {
        return None;
    }
    let linker = executable::linker(&path).filter(|linker| is_glibcs(linker))?;
    // It maps the program and its libraries, lists them, and executes nothing of them.
    let listed = Command::new(linker)
        .arg("--list")
        .arg(path)
        .env_remove("LD_PRELOAD")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&listed.stdout);
    let missing = text.lines().filter_map(|line| line.trim().strip_suffix(" => not found"));
    let mut missing: Vec<String> = missing.map(str::to_owned).collect();
    let said = String::from_utf8_lossy(&listed.stderr);
    let unfound = said.lines().find_map(|line| {
        let (_, library) = line.split_once("error while loading shared libraries: ")?;
        library.ends_with("No such file or directory").then(|| library.split(':').next())?
    });
    missing.extend(unfound.map(str::to_owned));
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() {
        return Some(Unloaded::Missing(missing));
    }
    (!listed.status.success() && !said.trim().is_empty())
        .then(|| Unloaded::Refused(said.trim().to_owned()))
}

fn is_glibcs(linker: &Path) -> bool {
    let name = linker.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b"ld-linux") || name.starts_with(b"ld64.so")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut bytes = fs::read("/bin/sh").expect("there is a shell");
        let at = bytes.windows(9).position(|name| name == b"libc.so.6").expect("it needs that");
        bytes[at + 3] = b'X';
        let program = folder.path().join("program");
        fs::write(&program, bytes).expect("a folder of its own");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("its own");
        let end = Command::new(&program).stderr(Stdio::null()).status().expect("it is executed");
        let status = end.code().expect("it ends by itself");
        let found = why_unloaded(program.as_os_str(), status);
        assert_eq!(found, Some(Unloaded::Missing(vec!["libX.so.6".to_owned()])));
        assert_eq!(why_unloaded(program.as_os_str(), 0), None, "it ended well");
        assert_eq!(why_unloaded(OsStr::new("sh"), 127), None, "the shell has all that it needs");
    }
}
