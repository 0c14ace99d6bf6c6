//! Compiles the test programs of `tests/c`, and judges what they do.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{run, scratch, succeed};

/// A time limit that is longer than any program needs, even under a spin lock on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(100);

/// Compiles `tests/c/NAME.c` with extra options. The program is put into a directory that is named
/// after `test`.
pub(crate) fn compile(test: &str, name: &str, options: &[&str]) -> PathBuf {
    let mut compiler = Command::new("gcc");
    compiler.args(["-std=gnu11", "-O1", "-g"]).args(options);
    compile_by(compiler, test, name, "c")
}

/// Compiles `tests/c/NAME.cpp` for a test, and returns the program's path.
pub(crate) fn compile_cpp(test: &str, name: &str) -> PathBuf {
    let mut compiler = Command::new("g++");
    compiler.args(["-std=c++17", "-O1", "-g"]);
    compile_by(compiler, test, name, "cpp")
}

fn compile_by(mut compiler: Command, test: &str, name: &str, extension: &str) -> PathBuf {
    let program = scratch(test).join(name);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    compiler
        .args(["-Wall", "-Wextra", "-Werror", "-pthread"])
        .arg("-o")
        .arg(&program)
        .arg(sources.join(name).with_extension(extension));
    succeed(compiler, LIMIT);
    program
}

/// Checks that `command` does what is expected and nothing else.
pub(crate) fn verdict(command: Command, lock: Option<&str>) -> Result<(), String> {
    let output = run(command, LIMIT);
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() && text == "ok\n" {
        Ok(())
    } else {
        Err(format!("under {}: {}\n{text}", lock.unwrap_or("no lock"), output.status))
    }
}
