//! Running the command line, and what it must refuse.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// `kilocore-lab`, which keeps nothing.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore-lab"));
    command.env("KILOCORE_NO_CACHE", "1");
    command
}

/// Runs `kilocore-lab` with these arguments.
pub(crate) fn lab(words: &[&str]) -> Output {
    command().args(words).output().expect("it runs")
}

/// Asserts that the command is refused with a message that holds all the given parts, and prints
/// nothing.
#[track_caller]
pub(crate) fn refused(words: &[&str], parts: &[&str]) {
    let output = lab(words);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
    assert!(output.stdout.is_empty(), "{words:?} printed {:?}", output.stdout);
    for part in parts {
        assert!(message.contains(part), "{words:?}: no '{part}' in: {message}");
    }
}

/// A file of the test's own.
pub(crate) fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, content).expect("the test's folder can be written");
    path
}
