//! Why a program cannot be started, in words that its user can act on.
//!
//! The system has a number for it and no more: "No such file or directory" is also said of a program that is
//! there, if the interpreter in its first line or its dynamic linker is not. What stands in its way shows in
//! its file.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::executable::{self, Beginning};
use crate::find::{folders, is_path};
use crate::find_program;

/// Why a program cannot be started. The words are the end of a sentence about it.
#[derive(Debug, Error)]
pub enum CannotStart {
    /// No file has this path.
    #[error("there is no such file; check its path")]
    NoFile,
    /// No folder of `PATH` has a program of this name.
    #[error(
        "it is in none of the folders of PATH ({}); {}",
        searched.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", "),
        match is_here {
            true => "there is one in this folder, which `./` before the name means",
            false => "check its name, or give its path",
        }
    )]
    NotInPath {
        /// Where it was looked for.
        searched: Vec<PathBuf>,
        /// Whether the current folder has such a file.
        is_here: bool,
    },
    /// It is a directory.
    #[error("it is a directory; name a program in it")]
    Folder,
    /// It is a socket, a device or a pipe.
    #[error("it is no regular file, and so no executable file; name a program")]
    NoRegularFile,
    /// Nobody may execute it.
    #[error(
        "it is not an executable file; make it one with `chmod +x`, or name the interpreter that reads it"
    )]
    NotExecutable,
    /// Others may execute it.
    #[error(
        "it is not an executable file that you may run, as its mode or that of a folder above it says; \
         `namei -l` shows these"
    )]
    Forbidden,
    /// The file system that it is on is mounted such that nothing on it is executed.
    #[error("the file system below {} is mounted with noexec; copy it to another one", mount.display())]
    NoExec {
        /// Where the file system is mounted.
        mount: PathBuf,
    },
    /// The interpreter that a script names is not there, or cannot be started.
    #[error(
        "bad interpreter: its first line names `{}`{}; install that, or mend the line",
        interpreter.display(),
        match &**why {
            CannotStart::NoFile if ends_in_return(interpreter) => {
                " with a carriage return behind it, as lines end on Windows".to_owned()
            }
            CannotStart::NoFile => ", which is not there".to_owned(),
            why => format!(" ({why})"),
        }
    )]
    Interpreter {
        /// What the first line names.
        interpreter: PathBuf,
        /// What is wrong with that.
        why: Box<CannotStart>,
    },
    /// The dynamic linker that it names is not there.
    #[error(
        "its dynamic linker {} is not there, as it was built for another system or C library; install \
         that library, or build the program here",
        linker.display()
    )]
    Linker {
        /// The path that the program has.
        linker: PathBuf,
    },
    /// It is a program for something else.
    #[error("exec format error: it is a program for {of}; give one for this machine")]
    Foreign {
        /// What it is for.
        of: String,
    },
    /// It is no program.
    #[error(
        "exec format error: it is neither a program for this machine nor a script; give a program that \
         this machine can execute"
    )]
    Format,
    /// Something else, in the system's words.
    #[error("{0}; give a program that this machine can execute")]
    Other(io::Error),
}

fn ends_in_return(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"\r")
}

impl CannotStart {
    /// Whether there is such a program: shells end with another status then.
    #[must_use]
    pub fn is_there(&self) -> bool {
        match self {
            Self::NoFile | Self::NotInPath { .. } => false,
            Self::Other(error) => error.kind() != io::ErrorKind::NotFound,
            _ => true,
        }
    }
}

/// Finds the program that a word of a command line names, as far as can be told without executing it.
///
/// # Errors
/// Why it cannot be started.
pub fn check_program(program: &OsStr) -> Result<PathBuf, CannotStart> {
    let error = match find_program(program) {
        Ok(path) => return examine(&path, SCRIPTS).map_or(Ok(path), Err),
        Err(error) => error,
    };
    if is_path(program) {
        return Err(examine(Path::new(program), SCRIPTS).unwrap_or(CannotStart::Other(error)));
    }
    let candidates = folders().map(|folder| folder.join(program));
    let refused = candidates.filter(|path| path.is_file()).find_map(|path| examine(&path, SCRIPTS));
    let is_here = !program.is_empty() && Path::new(program).is_file();
    let mut searched: Vec<PathBuf> = Vec::new();
    for folder in folders() {
        if !searched.contains(&folder) {
            searched.push(folder);
        }
    }
    Err(refused.unwrap_or(CannotStart::NotInPath { searched, is_here }))
}

/// Returns why the system refused to start a program.
#[must_use]
pub fn why_refused(program: &OsStr, error: io::Error) -> CannotStart {
    let path = match check_program(program) {
        Err(why) => return why,
        Ok(path) => path,
    };
    if error.raw_os_error() != Some(libc::ENOEXEC) {
        return CannotStart::Other(error);
    }
    let foreign = Beginning::of(&path).ok().and_then(|beginning| beginning.foreign());
    foreign.map_or(CannotStart::Format, |of| CannotStart::Foreign { of })
}

/// The kernel follows scripts no deeper.
const SCRIPTS: u32 = 5;

/// Why a file cannot be executed, if that shows. Scripts are followed so deep.
fn examine(path: &Path, depth: u32) -> Option<CannotStart> {
    let about = match path.metadata() {
        Ok(about) => about,
        Err(error) => {
            return Some(match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENOTDIR) => CannotStart::NoFile,
                Some(libc::EACCES) => CannotStart::Forbidden,
                _ => CannotStart::Other(error),
            });
        }
    };
    if about.is_dir() {
        return Some(CannotStart::Folder);
    }
    if !about.is_file() {
        return Some(CannotStart::NoRegularFile);
    }
    if !executable::is_for_anybody(&about) {
        return Some(CannotStart::NotExecutable);
    }
    if let Some(mount) = executable::noexec_mount(path) {
        return Some(CannotStart::NoExec { mount });
    }
    if !executable::is_allowed(path) {
        return Some(CannotStart::Forbidden);
    }
    // What may be executed and not read keeps its secrets.
    let beginning = Beginning::of(path).ok()?;
    if let Some(interpreter) = beginning.interpreter() {
        let why = if depth == 0 { None } else { examine(&interpreter, depth - 1) }?;
        return Some(CannotStart::Interpreter { interpreter, why: Box::new(why) });
    }
    let linker = beginning.runs_here().then(|| executable::linker(path)).flatten()?;
    (!linker.exists()).then_some(CannotStart::Linker { linker })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn why(program: &Path) -> String {
        check_program(program.as_os_str()).expect_err("it cannot be started").to_string()
    }

    /// A file of a name, with what is in it.
    fn file(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, content).expect("a folder of the test's own");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its own file");
        path
    }

    #[test]
    fn what_stands_in_the_way_is_found_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name, content: &[u8], mode| file(folder.path(), name, content, mode);
        assert!(why(Path::new("/no/such/program")).contains("no such file"));
        assert!(why(&file("plain", b"", 0o644).join("below")).contains("no such file"));
        assert!(why(folder.path()).contains("directory"));
        assert!(why(Path::new("/dev/null")).contains("no regular file"));
        assert!(why(&file("data", b"#!/bin/sh\n", 0o644)).contains("chmod +x"));
        let bad = file("bad", b"#! /no/such/interpreter -x\n", 0o755);
        assert!(why(&bad).contains("`/no/such/interpreter`, which is not there"), "{}", why(&bad));
        let windows = file("windows", b"#!/bin/sh\r\necho\r\n", 0o755);
        assert!(why(&windows).contains("carriage return"), "{}", why(&windows));
        let nested = file("nested", format!("#!{}\n", bad.display()).as_bytes(), 0o755);
        assert!(
            why(&nested).contains("bad interpreter: its first line names `/no"),
            "{}",
            why(&nested)
        );
        let by_data =
            file("by-data", format!("#!{}/data\n", folder.path().display()).as_bytes(), 0o755);
        assert!(why(&by_data).contains("(it is not an executable file"), "{}", why(&by_data));
        for (name, content) in [("sh", &b"echo\n"[..]), ("empty", b""), ("good", b"#!/bin/sh\n")] {
            assert!(check_program(file(name, content, 0o755).as_os_str()).is_ok(), "{name}");
        }
        assert!(check_program(OsStr::new("sh")).is_ok_and(|path| path.is_absolute()));
    }

    #[test]
    fn a_name_is_said_with_the_places_where_it_was_looked_for() {
        let said = why(Path::new("no-such-program-anywhere"));
        let first = folders().next().expect("there is a PATH");
        assert!(said.contains(&first.display().to_string()) && said.contains("give its path"));
        // Tests run in the folder of their crate.
        assert!(why(Path::new("Cargo.toml")).contains("`./`"));
        assert!(!why(Path::new("")).contains("`./`"));
    }

    #[test]
    fn programs_are_known_for_what_they_are_made_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let shell = fs::read("/bin/sh").expect("there is a shell");
        let changed = |name: &str, change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = shell.clone();
            change(&mut bytes);
            file(folder.path(), name, &bytes, 0o755)
        };
        let at = shell.windows(9).position(|bytes| bytes == b"/ld-linux").expect("it is dynamic");
        let without = changed("without", &|bytes| bytes[at + 1] = b'X');
        assert!(why(&without).contains("dynamic linker /"), "{}", why(&without));
        let enoexec = || io::Error::from_raw_os_error(libc::ENOEXEC);
        let arm = changed("arm", &|bytes| bytes[18..20].copy_from_slice(&40u16.to_ne_bytes()));
        assert!(
            why_refused(arm.as_os_str(), enoexec()).to_string().contains("for Arm with 32 bits")
        );
        let archive = file(folder.path(), "archive", b"PK\x03\x04\0\0", 0o755);
        let said = why_refused(archive.as_os_str(), enoexec());
        assert!(said.to_string().contains("neither a program") && said.is_there());
        let windows = file(folder.path(), "program.exe", b"MZ\x90\0\x03", 0o755);
        assert!(why_refused(windows.as_os_str(), enoexec()).to_string().contains("Windows"));
    }
}
