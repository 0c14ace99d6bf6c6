//! The kernel's own locks are named in programs that run already as in those that kilocore starts.

use std::path::Path;

use kilocore_lock_profile::{KernelLockWaits, Profile, ThreadTimes};

use crate::compiled::compiled;
use crate::{Running, can_watch, kilocore, profile, run};

/// Seconds for which a program is watched, until something is seen: on a busy host, its threads may wait for a
/// core most of the time.
const SECONDS: [&str; 4] = ["2", "4", "8", "16"];

/// The program.
const SOURCE: &str = include_str!("common/kernel_locks.c");

/// Its arguments: many threads that are busy all the time with one thing.
fn words<'a>(what: &'a str, folder: &'a Path) -> [&'a str; 5] {
    [what, "8", folder.to_str().expect("a plain path"), "1", "1"]
}

fn times(profile: &Profile) -> &ThreadTimes {
    profile.runs[0].times.as_ref().expect("threads were watched")
}

/// Whether the kernel shows waits for its own locks; told if not.
fn shows_locks(profile: &Profile) -> bool {
    let seen = times(profile).coverage.kernel_locks_seen;
    if !seen {
        eprintln!("not tested: the kernel does not show this user waits for its own locks");
    }
    seen
}

/// The lock that was waited for longest in one of these system calls, if it was waited for notably.
fn longest<'a>(profile: &'a Profile, calls: &[&str]) -> Option<&'a KernelLockWaits> {
    let times = times(profile);
    let lock = times.kernel_locks.iter().max_by_key(|lock| lock.waited)?;
    let call = lock.functions.last()?;
    let is_right = calls.iter().any(|known| call.contains(known));
    (is_right && lock.waited.0 * 100 > times.observed.0).then_some(lock)
}

/// Watches a program while it fights for a lock, once attached and once started; returns what its longest
/// waits were for.
fn watched_both_ways(what: &str, calls: &[&str]) -> Option<[KernelLockWaits; 2]> {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&folder, "kernel_locks", SOURCE, &[]);
    let running = Running::start(&program, &words(what, folder.path()));
    let pid = running.pid();
    let attached = ["--pid", pid.as_str()];
    let attached = watched(&attached, &[], calls)?;
    assert!(running.end() > 0, "it goes on until it is told to end");
    let program = ["--", program.to_str().expect("a plain path")];
    let program = [&program[..], &words(what, folder.path())];
    let started = watched(&["--recorder", "watch"], &program.concat(), calls)?;
    Some([attached, started])
}

fn watched(options: &[&str], program: &[&str], calls: &[&str]) -> Option<KernelLockWaits> {
    let mut said = Vec::new();
    for seconds in SECONDS {
        let mut command = kilocore();
        command.args(["record", "locks", "--json", "--duration", seconds]).args(options);
        let answer = run(command.args(program));
        if !can_watch(&answer) {
            eprintln!("not tested: {}", answer.stderr);
            return None;
        }
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        let profile = profile(&answer);
        if !shows_locks(&profile) {
            return None;
        }
        if let Some(lock) = longest(&profile, calls) {
            return Some(lock.clone());
        }
        said.push(format!("{:?}", times(&profile).kernel_locks));
    }
    panic!("no lock of {calls:?} in {}", said.join("\n"));
}

#[test]
fn the_lock_of_mapped_memory_is_named_with_the_functions_that_acquire_it() {
    let Some(locks) = watched_both_ways("memory", &["map", "page_fault"]) else { return };
    for lock in locks {
        assert_eq!(lock.name, "mmap_lock", "{lock:?}");
        assert!(lock.threads > 1 && lock.count > 1, "{lock:?}");
        let whole = lock.to_string();
        assert!(whole.starts_with("mmap_lock (") && whole.contains("acquired in "), "{whole}");
    }
}

#[test]
fn the_lock_of_a_directory_or_a_file_is_told_by_the_functions_that_acquire_it() {
    for (what, calls) in [("directory", &["unlink", "open"][..]), ("file", &["pwrite"])] {
        let Some(locks) = watched_both_ways(what, calls) else { return };
        for lock in locks {
            assert!(lock.functions.len() > 1 && lock.threads > 1, "{what}: {lock:?}");
        }
    }
}

#[test]
fn the_doctor_names_the_kernels_lock_of_a_program_that_runs_already() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(&folder, "kernel_locks", SOURCE, &[]);
    let running = Running::start(&program, &words("memory", folder.path()));
    let mut said = Vec::new();
    for seconds in SECONDS {
        let profile = folder.path().join("profile.json");
        let mut command = kilocore();
        command.args(["doctor", "--duration", seconds, "--keep"]).arg(&profile);
        let answer = run(command.args(["--pid", &running.pid()]));
        if !can_watch(&answer) {
            eprintln!("not tested: {}", answer.stderr);
            return;
        }
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        let profile = std::fs::read(&profile).expect("it is kept");
        let profile: Profile = serde_json::from_slice(&profile).expect("a profile");
        if !shows_locks(&profile) {
            return;
        }
        // Lines are broken to fit.
        let text = answer.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let finds = [
            "threads wait ",
            " of their time for the kernel's own locks, longest for mmap_lock",
            "The kernel's own locks that they waited for",
            "acquired in ",
        ];
        if finds.iter().all(|part| text.contains(part)) {
            assert!(running.end() > 0);
            return;
        }
        said.push(answer.stdout);
    }
    panic!("{}", said.join("\n"));
}
