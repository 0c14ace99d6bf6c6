//! What the tests of this library share: the library as it is shipped, compiled C programs, and
//! profiles.

// Each test file uses only a part of this.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use kilocore_lock_profile::{Process, Profile, read_directory};
use kilocore_lock_recorder::{Options, measure};

/// Returns the library as it is shipped.
pub(crate) fn library() -> PathBuf {
    kilocore_shipped::folder().join("libkilocore_measure.so")
}

/// Returns the compiled `tests/c/NAME.c`.
pub(crate) fn program(name: &str) -> PathBuf {
    static PROGRAMS: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    programs.entry(name.to_owned()).or_insert_with(|| compile(name)).clone()
}

fn compile(name: &str) -> PathBuf {
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(name).with_extension("c");
    // The program is first compiled under a unique name, because tests run in parallel, in threads
    // and in processes.
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let fresh = tempfile::NamedTempFile::new_in(directory).expect("there is room").into_temp_path();
    let status = Command::new("cc")
        .args(["-O1", "-g", "-pthread", "-o"])
        .args([fresh.as_os_str(), source.as_os_str()])
        .status()
        .expect("a C compiler is needed for these tests");
    assert!(status.success());
    let program = directory.join(name);
    fresh.persist(&program).expect("it can be moved");
    program
}

pub(crate) fn profile_of(command: &[&str], confined_run: bool) -> Profile {
    profile_by(&library(), command, confined_run)
}

/// The same with a copy of the library.
pub(crate) fn profile_by(library: &Path, command: &[&str], confined_run: bool) -> Profile {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    let library = library.to_owned();
    let profile = measure(
        &command,
        &Options { library, confined_run, output_to_stderr: false, watch: false },
    )
    .expect("the program can be measured");
    // A profile must be the same after it was written and read again.
    let directory = tempfile::tempdir().expect("there is room for a file");
    let file = directory.path().join("profile.json");
    profile.write(&file).expect("it can be written");
    assert!(Profile::read(&file).expect("it can be read") == profile, "another profile was read");
    for process in profile.runs.iter().flat_map(|run| &run.processes) {
        assert!(held_ns(process) <= process.threads.cpu_time.0, "{:?}", process.threads);
    }
    profile
}

pub(crate) fn only_process(profile: &Profile) -> &Process {
    let [process] = &profile.runs[0].processes[..] else {
        panic!("one process, not {}", profile.runs[0].processes.len())
    };
    process
}

/// What the library recorded of a program and its children, what the program printed, and how much
/// processor time the kernel says that it used, in nanoseconds.
pub(crate) struct Recorded {
    pub(crate) processes: Vec<Process>,
    pub(crate) output: String,
    pub(crate) cpu_ns: f64,
}

pub(crate) fn recorded(program: &Path, arguments: &[&str]) -> Recorded {
    let directory = tempfile::tempdir().expect("there is room");
    let printed = directory.path().join("output");
    let mut child = Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", library())
        .env("KILOCORE_MEASURE_DIR", directory.path())
        .stdout(std::fs::File::create(&printed).expect("there is room"))
        .spawn()
        .expect("it runs under the library");
    let mut status = 0;
    // SAFETY: zeros are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `status` and `usage` are local variables.
    let waited = unsafe { libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage) };
    assert_eq!((waited, status), (child.id() as i32, 0), "{arguments:?}");
    assert!(child.wait().is_err(), "it was waited for already");
    let ns = |time: libc::timeval| time.tv_sec as f64 * 1e9 + time.tv_usec as f64 * 1e3;
    Recorded {
        processes: read_directory(directory.path(), None).expect("it can be read"),
        output: std::fs::read_to_string(&printed).expect("it can be read"),
        cpu_ns: ns(usage.ru_utime) + ns(usage.ru_stime),
    }
}

/// Returns the time on the processor in all holds of a process.
pub(crate) fn held_ns(process: &Process) -> f64 {
    process.locks.iter().map(|lock| lock.held().0).sum()
}
