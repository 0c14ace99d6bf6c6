//! Runs programs with `libkilocore_pages.so` preloaded.
#![allow(dead_code)] // each test file uses its part

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

pub(crate) use kilocore_shipped::Running;

/// A time limit that is longer than any program needs, even on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(100);

/// Returns the library as it is shipped.
pub(crate) fn library() -> PathBuf {
    kilocore_shipped::folder().join("libkilocore_pages.so")
}

/// Returns an empty directory for the test called `name`.
pub(crate) fn scratch(name: &str) -> PathBuf {
    kilocore_shipped::scratch(concat!(env!("CARGO_TARGET_TMPDIR"), "/pages"), name)
}

/// Compiles `tests/c/NAME.c` with extra options.
pub(crate) fn compile(test: &str, name: &str, options: &[&str]) -> PathBuf {
    let program = scratch(test).join(name);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c");
    let mut compiler = Command::new("gcc");
    compiler
        .args(["-std=gnu11", "-O1", "-g", "-fno-builtin", "-Wall", "-Wextra", "-Werror"])
        .arg("-pthread")
        .args(options)
        .arg("-o")
        .arg(&program)
        .arg(sources.join(name).with_extension("c"));
    succeed(compiler);
    program
}

/// Whether a program runs with the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pool {
    Without,
    /// As it is by default.
    With,
    /// With a pool of 8 MiB, which is full much of the time.
    Small,
}

pub(crate) const EACH: [Pool; 3] = [Pool::Without, Pool::With, Pool::Small];

/// Returns `command` with the library preloaded, or without it.
pub(crate) fn under(mut command: Command, pool: Pool) -> Command {
    command.env_remove("LD_PRELOAD");
    for variable in ["MIN", "MAX", "TOTAL", "STATISTICS"] {
        command.env_remove(format!("KILOCORE_PAGES_{variable}"));
    }
    if pool != Pool::Without {
        command.env("LD_PRELOAD", library());
    }
    if pool == Pool::Small {
        command.env("KILOCORE_PAGES_TOTAL", "8M");
    }
    command
}

/// Runs `command` to its end.
pub(crate) fn run(command: Command) -> Output {
    kilocore_shipped::run(command, LIMIT)
}

/// Runs a program that succeeds, and returns its standard output.
pub(crate) fn succeed(command: Command) -> Vec<u8> {
    kilocore_shipped::succeed(command, LIMIT)
}
