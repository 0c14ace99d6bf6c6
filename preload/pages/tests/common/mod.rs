//! Runs programs with `libkilocore_pages.so` preloaded.
#![allow(dead_code)] // each test file uses its part

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// A time limit that is longer than any program needs, even on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(100);

/// Returns the library as it is shipped.
pub(crate) fn library() -> PathBuf {
    kilocore_shipped::folder().join("libkilocore_pages.so")
}

/// Returns an empty directory for the test called `name`.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages").join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
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

/// A running program. It is killed when this value is dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
    what: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let what = format!("{command:?}");
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot run {what}: {error}"));
        Self { child, what }
    }

    /// Waits until the program ends.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is a child of this process") {
                return status;
            }
            assert!(Instant::now() < end, "not done after {LIMIT:?}: {}", self.what);
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Runs `command` to its end. Its output goes through files, so it may have any length.
pub(crate) fn run(mut command: Command) -> Output {
    let (mut stdout, mut stderr) = (unnamed_file(), unnamed_file());
    command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().expect("a file can be shared"))
        .stderr(stderr.try_clone().expect("a file can be shared"));
    let status = Running::start(command).wait();
    Output { status, stdout: contents(&mut stdout), stderr: contents(&mut stderr) }
}

/// Runs a program as [`run`] does, checks that it succeeds, and returns its standard output.
pub(crate) fn succeed(command: Command) -> Vec<u8> {
    let what = format!("{command:?}");
    let output = run(command);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr),
    );
    output.stdout
}

fn unnamed_file() -> File {
    // SAFETY: the arguments are a name and flags.
    let fd = unsafe { libc::memfd_create(c"".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0, "memfd_create fails");
    // SAFETY: the descriptor was opened just now, and nobody else owns it.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}

fn contents(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("memory can be read");
    bytes
}
