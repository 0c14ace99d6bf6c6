//! Running programs that must not hang and may print any amount.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::FromRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// A running program. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Running {
    /// The program's process, for what else a test wants of it, such as its pipes.
    pub child: Child,
    command: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts a program.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(mut command: Command) -> Self {
        let said = format!("{command:?}");
        let child = command.spawn().unwrap_or_else(|error| panic!("cannot run {said}: {error}"));
        Self { child, command: said }
    }

    /// Waits until the program ends.
    ///
    /// # Panics
    /// If it does not end within the time `limit`.
    pub fn wait(&mut self, limit: Duration) -> ExitStatus {
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is a child of this process") {
                return status;
            }
            assert!(Instant::now() < end, "not done after {limit:?}: {}", self.command);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Checks whether a library, such as `libx.so`, is loaded in the program.
    ///
    /// # Panics
    /// If it is not as `expected`.
    pub fn assert_loaded(&self, library: &str, expected: bool) {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.child.id()));
        let loaded = maps.expect("it runs").contains(library);
        assert_eq!(loaded, expected, "{}", self.command);
    }
}

/// Runs a program to its end, for at most the time `limit`. Its output goes through files, so it may have
/// any length.
///
/// # Panics
/// If it cannot be started, or does not end in time.
pub fn run(mut command: Command, limit: Duration) -> Output {
    let (mut stdout, mut stderr) = (unnamed_file(), unnamed_file());
    command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().expect("a file can be shared"))
        .stderr(stderr.try_clone().expect("a file can be shared"));
    let status = Running::start(command).wait(limit);
    Output { status, stdout: contents(&mut stdout), stderr: contents(&mut stderr) }
}

/// Runs a program as [`run`] does, and returns its standard output.
///
/// # Panics
/// As [`run`] does, and if the program fails.
pub fn succeed(command: Command, limit: Duration) -> Vec<u8> {
    let said = format!("{command:?}");
    let Output { status, stdout, stderr } = run(command, limit);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(status.success(), "{said}: {status}\n{}{}", text(&stdout), text(&stderr));
    stdout
}

/// Returns an empty folder of this name in `among`, which is a crate's `CARGO_TARGET_TMPDIR`.
///
/// # Panics
/// If it cannot be made.
pub fn scratch(among: &str, name: &str) -> PathBuf {
    let folder = Path::new(among).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

fn unnamed_file() -> File {
    // SAFETY: the arguments are a name and flags.
    let fd = unsafe { libc::memfd_create(c"".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0, "memfd_create fails");
    // SAFETY: the descriptor was opened just now, and nobody else owns it.
    unsafe { File::from_raw_fd(fd) }
}

fn contents(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("memory can be read");
    bytes
}
