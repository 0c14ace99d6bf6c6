//! Programs in C, compiled for a test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A C program, compiled with these options.
pub(crate) fn compiled(
    folder: impl AsRef<Path>,
    name: &str,
    source: &str,
    options: &[&str],
) -> PathBuf {
    let text = folder.as_ref().join(format!("{name}.c"));
    let program = folder.as_ref().join(name);
    fs::write(&text, source).expect("a folder of the test's own");
    let status = Command::new("cc")
        .args(["-O1", "-pthread", "-o"])
        .args([&program, &text])
        .args(options)
        .status()
        .expect("a C compiler is needed for these tests");
    assert!(status.success(), "{name} does not compile");
    program
}
