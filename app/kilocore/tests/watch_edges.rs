//! Programs that end or change while they are watched, and what stands in the way of watching.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kilocore_lock_profile::{Profile, Rights, Watching};

use crate::{Run, Running, can_watch, first_lock, kilocore, profile, run};

/// Builds one of the programs beside this file.
fn build(folder: &Path, source: &str, name: &str, options: &[&str]) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watch_edges");
    let program = folder.join(name);
    let status = Command::new("gcc")
        .args(["-O2", "-pthread", "-o"])
        .args([program.as_path(), &sources.join(source)])
        .args(options)
        .status()
        .expect("there is a compiler");
    assert!(status.success());
    program
}

/// A program whose threads take turns at a mutex of this name.
fn changing(folder: &Path, mutex: &str) -> PathBuf {
    // At the addresses of the one, the other has something else.
    let mutex_is = format!("-DMUTEX={mutex}");
    build(folder, "changing.c", mutex, &[&mutex_is, "-no-pie"])
}

fn watch(words: &[&str]) -> Run {
    run(kilocore().args(["record", "locks", "--json"]).args(words))
}

fn watching(profile: &Profile) -> &Watching {
    profile.runs[0].watching.as_ref().expect("it was watched")
}

fn places(profile: &Profile) -> Vec<&str> {
    let locks = profile.runs[0].processes.iter().flat_map(|process| &process.locks);
    locks.filter_map(|lock| lock.place.as_deref()).collect()
}

#[test]
fn a_process_that_ends_or_is_killed_meanwhile_leaves_a_profile() {
    let folder = tempfile::tempdir().unwrap();
    let program = changing(folder.path(), "first_mutex");
    for what in ["exit", "kill"] {
        let running = Running::start(&program, &["3", "0", "20000", what]);
        // Until it ends.
        let answer = watch(&["--pid", &running.pid()]);
        if !can_watch(&answer) {
            return;
        }
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        let profile = profile(&answer);
        assert!(watching(&profile).windows > 0);
        let place = first_lock(&profile).place.as_deref().unwrap_or_default();
        assert!(place.starts_with("first_mutex in "), "{what}: {place}");
        assert!(first_lock(&profile).acquisitions < 30_000, "{:?}", first_lock(&profile));
    }
}

#[test]
fn what_was_known_of_a_former_program_is_not_said_of_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let first = changing(folder.path(), "first_mutex");
    let second = changing(folder.path(), "second_mutex");
    let path = second.to_str().expect("it has a plain name");
    for what in ["execute-main", "execute"] {
        let words = ["3", "0", "10000", what, path, "3", "0", "20000", "exit"];
        // On a busy host, both programs may be over before the watcher has begun.
        let watched = || watch(&["--pid", &Running::start(&first, &words).pid()]);
        let in_time = |answer: &Run| !answer.stderr.contains("has ended, and only waits");
        let answer = (0..5).map(|_| watched()).find(in_time).expect("once it begins in time");
        if !can_watch(&answer) {
            return;
        }
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        let profile = profile(&answer);
        let process = &profile.runs[0].processes[0];
        assert!(process.executable.ends_with("second_mutex"), "{}", process.executable);
        assert!(places(&profile).iter().all(|place| !place.contains("first_mutex")));
        let lock = first_lock(&profile);
        let place = lock.place.as_deref().unwrap_or_default();
        assert!(place.starts_with("second_mutex in "), "{what}: {place}");
        // It counts for the time that the second program had, not for the whole.
        assert!(lock.acquisitions < 30_000, "{what}: {lock:?}");
    }
}

#[test]
fn what_is_no_running_program_is_refused_by_its_kind() {
    let folder = tempfile::tempdir().unwrap();
    let program = changing(folder.path(), "first_mutex");
    let running = Running::start(&program, &["2", "0", "0", "none"]);
    let pid = running.pid();
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let names = threads.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let thread = names.into_iter().find(|name| *name != pid).expect("it has several");
    let mut ended = Command::new("true").spawn().expect("there is a `true`");
    let mut information = std::mem::MaybeUninit::<libc::siginfo_t>::uninit();
    // SAFETY: the child is this test's, and the place for what became of it is valid.
    let waited = unsafe {
        let how = libc::WEXITED | libc::WNOWAIT;
        libc::waitid(libc::P_PID, ended.id(), information.as_mut_ptr(), how)
    };
    assert_eq!(waited, 0);
    for (asked, expected) in [
        (thread, format!("is a thread of process {pid}; give --pid {pid}")),
        (ended.id().to_string(), "has ended".to_owned()),
    ] {
        let answer = watch(&["--pid", &asked, "--duration", "1"]);
        assert_eq!(answer.status, Some(2), "{expected}: {}", answer.stderr);
        assert!(answer.stderr.contains(&expected), "{expected}: {}", answer.stderr);
    }
    ended.wait().expect("it is this test's");
    let itself = "exec \"$0\" record locks --json --duration 1 --pid $$";
    let answer = run(Command::new("sh").args(["-c", itself, env!("CARGO_BIN_EXE_kilocore")]));
    assert_eq!(answer.status, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("is this kilocore itself"), "{}", answer.stderr);
    // In a container, the second process may be anybody.
    if std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n") {
        let answer = watch(&["--pid", "2", "--duration", "1"]);
        assert_eq!(answer.status, Some(2), "{}", answer.stderr);
        assert!(answer.stderr.contains("of the kernel") || answer.stderr.contains("another user"));
    }
}

#[test]
fn without_watchpoints_only_waits_are_told_and_with_one_a_lock_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let program = changing(folder.path(), "first_mutex");
    let holder = build(folder.path(), "holder.c", "holder", &[]);
    for (count, free) in [("4", false), ("3", true)] {
        let running = Running::start(&program, &["3", "0", "0", "none"]);
        let pid = running.pid();
        let _holder = Running::start(&holder, &[&pid, count]);
        let answer = watch(&["--pid", &pid, "--duration", "3"]);
        if !can_watch(&answer) {
            return;
        }
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        let profile = profile(&answer);
        let refused = watching(&profile).refused.as_deref();
        let locks = || profile.runs[0].processes.iter().flat_map(|process| &process.locks);
        let measured = |lock: &kilocore_lock_profile::Lock| {
            lock.precision.as_ref().is_some_and(|precision| precision.acquisitions.is_some())
        };
        if free && refused.is_none() {
            assert!(locks().any(measured), "{:?}", watching(&profile));
        } else {
            // Without the holder too, where a machine has no watchpoints.
            let told = refused.expect("it is said why");
            assert!(told.contains("watchpoints"), "{told}");
            assert!(free || !locks().any(measured), "nothing was watched");
        }
        assert!(running.end() > 0);
    }
}

#[test]
fn a_filter_of_system_calls_is_named_with_its_mend() {
    let folder = tempfile::tempdir().unwrap();
    let filter = build(folder.path(), "filter.c", "filter", &[]);
    for error in [libc::EPERM, libc::ENOSYS] {
        let words = ["record", "locks", "--json", "--recorder", "watch", "--", "echo", "started"];
        let mut command = Command::new(&filter);
        let command = command.arg(error.to_string()).arg(env!("CARGO_BIN_EXE_kilocore"));
        let answer = run(command.args(words));
        assert_eq!(answer.status, Some(2), "{}", answer.stderr);
        let mends = ["--security-opt seccomp", "sysctl kernel.", "CONFIG_PERF_EVENTS", "x86-64"];
        assert!(mends.iter().any(|mend| answer.stderr.contains(mend)), "{}", answer.stderr);
        assert!(!answer.stderr.contains("started") && answer.stdout.is_empty());
    }
}

#[test]
fn of_ten_thousand_threads_those_that_contend_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let program = changing(folder.path(), "first_mutex");
    let running = Running::start(&program, &["3", "10000", "0", "none"]);
    let watched = || {
        let answer = watch(&["--pid", &running.pid(), "--duration", "6"]);
        can_watch(&answer).then(|| {
            assert_eq!(answer.status, Some(0), "{}", answer.stderr);
            profile(&answer)
        })
    };
    // Where others have the cores, the three may not come to contend while they are watched.
    let contended = |profile: &Profile| {
        watching(profile).rights != Rights::WholeCores
            || profile.runs[0].processes.iter().any(|process| !process.locks.is_empty())
    };
    let Some(mut profile) = watched() else { return };
    for _ in 0..5 {
        if contended(&profile) {
            break;
        }
        profile = watched().expect("as before");
    }
    if watching(&profile).rights == Rights::WholeCores {
        let place = first_lock(&profile).place.as_deref().unwrap_or_default();
        assert!(place.starts_with("first_mutex in "), "{place}");
    } else {
        // It is said how many were followed.
        assert!(watching(&profile).followed_share.is_some());
    }
    // It runs on, and was not kept from anything.
    assert!(running.end() > 0);
}

#[test]
fn threads_that_end_at_once_are_not_taken_for_all() {
    let folder = tempfile::tempdir().unwrap();
    let program = changing(folder.path(), "first_mutex");
    let running = Running::start(&program, &["4", "0", "0", "tasks"]);
    let answer = watch(&["--pid", &running.pid(), "--duration", "3"]);
    if !can_watch(&answer) {
        return;
    }
    assert_eq!(answer.status, Some(0), "{}", answer.stderr);
    let profile = profile(&answer);
    let counted = running.end() as f64;
    for lock in profile.runs[0].processes.iter().flat_map(|process| &process.locks) {
        let of_all = lock.precision.as_ref().and_then(|precision| precision.acquisitions);
        // Either the interval reaches what there was in a part of the time, or it is left open.
        let too_few = of_all.is_some_and(|interval| interval.high < 0.1 * counted);
        assert!(!too_few, "{lock:?} of {counted}");
    }
}

#[test]
fn a_32_bit_program_is_refused_before_it_starts_and_left_out_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["-m32", "-O1", "-ffreestanding", "-nostdlib", "-static", "-fno-pie", "-no-pie"];
    let options = [&options[..], &["-fno-stack-protector"]].concat();
    let program = build(folder.path(), "code32.c", "code32", &options);
    let path = program.to_str().expect("it has a plain name");
    let answer = watch(&["--recorder", "watch", "--duration", "1", "--", path]);
    assert_eq!(answer.status, Some(2), "{}", answer.stderr);
    if can_watch_here(&answer) {
        assert!(answer.stderr.contains("is 32-bit code"), "{}", answer.stderr);
    }
    assert!(answer.stdout.is_empty() && !answer.stderr.contains("ready"), "it was started");
    // A kernel may execute no 32-bit code at all.
    let Ok(child) = Command::new(&program).stdout(Stdio::null()).spawn() else { return };
    let mut child = Killed(child);
    let answer = watch(&["--pid", &child.0.id().to_string(), "--duration", "1"]);
    assert_eq!(answer.status, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("runs 32-bit code"), "{}", answer.stderr);
    assert!(child.0.try_wait().expect("it is this test's").is_none(), "it runs on");
    let both = format!("timeout -s KILL 2 '{path}'; true");
    let answer = watch(&["--recorder", "watch", "--", "sh", "-c", &both]);
    if can_watch(&answer) {
        let profile = profile(&answer);
        let left_out = watching(&profile).left_out.join("; ");
        assert!(left_out.contains("runs 32-bit code"), "{left_out}");
        assert!(places(&profile).is_empty(), "{:?}", places(&profile));
    }
}

/// Whether it was not the machine that refused.
fn can_watch_here(answer: &Run) -> bool {
    !answer.stderr.contains("perf")
}

/// A program that is killed when the test ends.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
