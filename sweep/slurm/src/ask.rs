//! Running a program of Slurm.

use std::env;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use kilocore_sweep::BatchSystemError;

/// Variables that change what `squeue` prints and what `scancel` does begin so. A user may have set them for themselves.
const OF_USERS: [&str; 2] = ["SQUEUE_", "SCANCEL_"];

/// So much of what a program says is told, in characters.
const MOST_SAID: usize = 1000;

/// What a program of Slurm prints.
///
/// # Errors
/// If it cannot be run, or says that it cannot.
pub(crate) fn ask<W: AsRef<OsStr>>(
    program: &'static str,
    words: impl IntoIterator<Item = W>,
) -> Result<String, BatchSystemError> {
    let mut command = Command::new(program);
    command.args(words).env("LC_ALL", "C").stdin(Stdio::null());
    for (name, _) in env::vars_os() {
        let begins_with = |start: &&str| name.as_encoded_bytes().starts_with(start.as_bytes());
        if OF_USERS.iter().any(begins_with) {
            command.env_remove(name);
        }
    }
    let output = command.output().map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => {
            BatchSystemError::NoProgram { program, source }
        }
        _ => BatchSystemError::Files(source),
    })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().chars().take(MOST_SAID).collect();
            Err(BatchSystemError::Refused { program, said })
        }
    }
}

/// A program has printed this line, which is none that it should.
pub(crate) fn no_answer(program: &'static str, printed: &str) -> BatchSystemError {
    BatchSystemError::Unreadable { program, printed: printed.chars().take(MOST_SAID).collect() }
}
