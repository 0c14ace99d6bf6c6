//! Runs programs with `libkilocore_run.so` preloaded.
#![allow(dead_code)] // each test file uses its part

pub(crate) mod c;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use kilocore_locks::{LockId, RwLockId};
use kilocore_platform::Native;

/// Returns the library as it is shipped.
pub(crate) fn library() -> PathBuf {
    kilocore_shipped::folder().join("libkilocore_run.so")
}

/// A lock of each family: one whose waiters sleep and get the lock in no order, one whose waiters
/// spin on a common word, and queues whose waiters spin, sleep, stay on their NUMA node, stand
/// aside, or ask the holder.
const FAMILIES: [&str; 7] =
    ["futex", "ticket", "mcs", "clh-park", "cna", "malthusian", "requester"];

/// A read-write lock of each family: one word, a bias for readers, and counts per core.
const RW_FAMILIES: [&str; 3] = ["phase-fair", "bravo-writer-first", "per-core"];

/// If this variable is set in the environment, every program runs under every lock, as in `make
/// soak`.
const EVERY_LOCK: &str = "KILOCORE_EVERY_LOCK";

/// Returns `None`, which stands for a run without the library, and then a lock of each family. If
/// [`EVERY_LOCK`] is set, it returns all locks.
pub(crate) fn locks() -> impl Iterator<Item = Option<&'static str>> {
    let chosen: Vec<LockId> = if std::env::var_os(EVERY_LOCK).is_some() {
        LockId::ALL.to_vec()
    } else {
        FAMILIES.iter().map(|name| name.parse().expect("the registry knows it")).collect()
    };
    std::iter::once(None).chain(chosen.into_iter().map(|lock| Some(lock.name())))
}

/// Returns `None`, which stands for a run without the library, and then all read-write locks.
pub(crate) fn rwlocks() -> impl Iterator<Item = Option<&'static str>> {
    let locks = RwLockId::for_programs::<Native>().map(|lock| Some(lock.name()));
    std::iter::once(None).chain(locks)
}

/// Returns `None`, and then a read-write lock of each family, for programs that take long. If
/// [`EVERY_LOCK`] is set, it returns all.
pub(crate) fn rwlock_families() -> impl Iterator<Item = Option<&'static str>> {
    let every = std::env::var_os(EVERY_LOCK).is_some();
    rwlocks().filter(move |lock| every || lock.is_none_or(|name| RW_FAMILIES.contains(&name)))
}

/// Returns an empty directory for the test called `name`.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
}

/// Returns `command` with the library preloaded and the lock called `lock`. If there is no lock,
/// the command runs without the library.
pub(crate) fn under(command: Command, lock: Option<&str>) -> Command {
    under_both(command, lock, None)
}

/// Does the same for a read-write lock. Mutexes stay as they are.
pub(crate) fn under_rwlock(command: Command, rwlock: Option<&str>) -> Command {
    under_both(command, None, rwlock)
}

/// Returns `command` with the library preloaded if there is any lock: one for mutexes, or one for
/// read-write locks, or both.
pub(crate) fn under_both(
    mut command: Command,
    lock: Option<&str>,
    rwlock: Option<&str>,
) -> Command {
    for variable in ["LD_PRELOAD", "KILOCORE_LOCK", "KILOCORE_RWLOCK"] {
        command.env_remove(variable);
    }
    for (variable, lock) in [("KILOCORE_LOCK", lock), ("KILOCORE_RWLOCK", rwlock)] {
        if let Some(lock) = lock {
            command.env("LD_PRELOAD", library()).env(variable, lock);
        }
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

    /// Checks that the library is loaded in the program if there is a lock, and only then.
    pub(crate) fn check_library(&self, lock: Option<&str>) {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.child.id()));
        let loaded = maps.expect("it runs").contains("libkilocore_run.so");
        assert_eq!(loaded, lock.is_some(), "{}", self.what);
    }

    /// Waits until the program ends, at most for the time `limit`.
    pub(crate) fn wait(&mut self, limit: Duration) -> ExitStatus {
        let end = Instant::now() + limit;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is a child of this process") {
                return status;
            }
            assert!(Instant::now() < end, "not done after {limit:?}: {}", self.what);
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Runs `command` to its end, for at most the time `limit`. Its output goes through files, so it
/// may have any length.
pub(crate) fn run(mut command: Command, limit: Duration) -> Output {
    let mut stdout = unnamed_file();
    let mut stderr = unnamed_file();
    command
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().expect("a file can be shared"))
        .stderr(stderr.try_clone().expect("a file can be shared"));
    let status = Running::start(command).wait(limit);
    Output { status, stdout: contents(&mut stdout), stderr: contents(&mut stderr) }
}

/// Runs a program as [`run`] does, checks that it succeeds, and returns its standard output.
pub(crate) fn succeed(command: Command, limit: Duration) -> String {
    let what = format!("{command:?}");
    let output = run(command, limit);
    assert!(
        output.status.success(),
        "{what}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn unnamed_file() -> File {
    let name = std::ffi::CString::default();
    // SAFETY: the arguments are an empty name and no flags.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0, "memfd_create fails");
    // SAFETY: the descriptor was opened just now, and nobody else owns it.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}

fn contents(file: &mut File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("memory can be read");
    bytes
}
