//! Waits for the kernel's own locks are seen and told, or it is said why not.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::compiled::compiled;
use crate::programs::{Program, is_root, sched};

/// Somebody who is not root.
const NOBODY: u32 = 65_534;

/// The program.
const SOURCE: &str = include_str!("../common/kernel_locks.c");

/// Threads of the program.
const THREADS: u64 = 8;

/// Steers a program whose threads fight for the lock of their memory for so many milliseconds of each fifty.
/// `None`, told, where the kernel does not show such waits.
fn steered(busy: &str, metrics: &str, seconds: &str) -> Option<serde_json::Value> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut program = Command::new(compiled(&folder, "kernel_locks", SOURCE, &[]));
    let threads = THREADS.to_string();
    program.args(["memory", &threads]).arg(folder.path()).args([busy, "50"]);
    let running = Program::in_command(&mut program);
    let json = folder.path().join("done.json");
    let mut command = sched(folder.path());
    command.args(["--metrics", metrics, "--policy", "fair", "--duration", seconds, "--output"]);
    let output = command.arg(&json).arg("--pid").arg(running.pid().to_string()).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        assert!(said.contains("Linux 5.19") && said.contains("--metrics auto"), "{said}");
        eprintln!("not tested: {said}");
        return None;
    }
    assert!(output.status.success(), "{said}");
    let done = fs::read(&json).expect("it is written");
    let done: serde_json::Value = serde_json::from_slice(&done).expect("it is JSON");
    if done["kernel_locks"].is_null() {
        let unseen = done["not_seen"].to_string();
        assert!(metrics != "kernel" && unseen.contains("kernel's own locks"), "{done}");
        eprintln!("not tested: {unseen}");
        return None;
    }
    let entries = done["kernel_locks"].as_array().expect("a list");
    let notable = entries.iter().any(|lock| lock["share"].as_f64() >= Some(0.01));
    assert_eq!(said.contains("they waited for locks of the kernel: "), notable, "{said}");
    Some(done)
}

/// For how long, in nanoseconds, and for what share of their time threads waited for the lock of memory.
fn waited(done: &serde_json::Value) -> (u64, f64) {
    let all = done["kernel_locks"].as_array().expect("a list");
    let of_memory = all.iter().filter(|lock| {
        let name = lock["lock"].as_str().expect("its name");
        name.starts_with("mmap_lock, acquired in ")
    });
    of_memory.fold((0, 0.0), |(waited, share), lock| {
        let more = lock["waited_ns"].as_u64().expect("nanoseconds");
        (waited + more, share + lock["share"].as_f64().expect("a share"))
    })
}

#[test]
fn waits_for_the_kernels_locks_count_as_contention_and_are_told() {
    // A busy host may let one thread run at a time for a while.
    for (metrics, seconds) in [("kernel", "2s"), ("auto", "4s"), ("kernel", "8s"), ("auto", "16s")]
    {
        let Some(done) = steered("50", metrics, seconds) else { return };
        assert!(done["watched"].to_string().contains("the kernel's own locks"), "{done}");
        let (waited, share) = waited(&done);
        if waited > 0 && share > 0.05 {
            return;
        }
    }
    panic!("nobody waited");
}

/// What a thread does after it has the lock is no wait.
#[test]
fn waits_for_the_kernels_locks_end() {
    let Some(done) = steered("5", "kernel", "4s") else { return };
    let windows = done["windows"].as_u64().expect("a number");
    assert!(windows > 10, "{done}");
    let (waited, _) = waited(&done);
    // They sleep nine tenths of the time, for no lock.
    let time = windows * 100_000_000 * THREADS;
    assert!(waited < time / 2, "{waited} of {time}: {done}");
}

#[test]
fn who_may_not_see_them_is_told_what_would_help() {
    if !is_root() {
        eprintln!("not tested, as only root can be somebody else");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    // Another user may not be let into the folder of the build.
    let program = folder.path().join("kilocore");
    fs::copy(env!("CARGO_BIN_EXE_kilocore"), &program).expect("room");
    let mut command = Command::new(&program);
    command.args(["steer", "--metrics", "kernel", "--", "true"]).uid(NOBODY).gid(NOBODY);
    let output = command.env("XDG_RUNTIME_DIR", folder.path()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        eprintln!("not tested: this kernel shows its locks to everybody");
        return;
    }
    assert_eq!(output.status.code(), Some(2), "{said}");
    for part in ["tracepoints of its own locks", "CAP_PERFMON", "Linux 5.19", "--metrics auto"] {
        assert!(said.contains(part), "{said}");
    }
}
