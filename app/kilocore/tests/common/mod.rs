//! Running the command line, and what it must refuse.
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs `kilocore` with these arguments. It simulates everything anew.
pub(crate) fn kilocore(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    command.args(words).env("KILOCORE_NO_CACHE", "1").output().expect("kilocore runs")
}

/// Asserts that the command is refused with a message that holds all the given parts.
#[track_caller]
pub(crate) fn refused(words: &[&str], parts: &[&str]) {
    ended(2, words, parts);
}

/// Asserts that the command ends with a status, a message that holds all the given parts, and
/// nothing printed.
#[track_caller]
pub(crate) fn ended(status: i32, words: &[&str], parts: &[&str]) {
    let output = kilocore(words);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(status), "{words:?}: {message}");
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
