//! What a program does is counted by a library in it or traced by the kernel, and nothing stays behind.

use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::programs::{Program, all_cores, children, kill_both, sched, wait_until};

/// Threads that fight for a mutex, or a spin lock, until the input ends, then say how often they had it.
const FIGHTERS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#ifdef SPIN
static pthread_spinlock_t lock;
static void begin(void) { pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE); }
static void take(void) { pthread_spin_lock(&lock); }
static void release(void) { pthread_spin_unlock(&lock); }
#else
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void begin(void) {}
static void take(void) { pthread_mutex_lock(&lock); }
static void release(void) { pthread_mutex_unlock(&lock); }
#endif
static volatile int over;
static long had;
static void *fights(void *nothing) {
    do {
        take();
        had++;
        usleep(100);
        release();
    } while (!over);
    return nothing;
}
int main(void) {
    pthread_t threads[4];
    begin();
    for (int i = 0; i < 4; i++) pthread_create(threads + i, NULL, fights, NULL);
    puts("ready"); fflush(stdout);
    while (getchar() != EOF);
    over = 1;
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("%ld\n", had);
    return 7;
}
"#;

/// Compiles it; `None` if this compiler cannot do so with these options.
pub(crate) fn fighters(folder: &Path, options: &[&str]) -> Option<PathBuf> {
    let (source, program) = (folder.join("fighters.c"), folder.join("fighters"));
    fs::write(&source, FIGHTERS).expect("room");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-pthread"]).args(options).arg("-o").arg(&program).arg(&source);
    compiler.status().expect("a compiler").success().then_some(program)
}

/// A program under the daemon, whose recordings lie in a folder of the test.
fn preloaded(folder: &Path, program: &Path, options: &[&str]) -> Program {
    Program::in_command(&mut preloading(folder, program, options))
}

/// The command for that.
pub(crate) fn preloading(folder: &Path, program: &Path, options: &[&str]) -> Command {
    let recordings = folder.join("recordings");
    let _ = fs::create_dir(&recordings);
    let mut command = sched(folder);
    command.args(["--metrics", "preload", "--window", "20ms", "--output"]);
    command.arg(folder.join("done.json")).args(options).arg("--").arg(program);
    command.env("TMPDIR", recordings);
    command
}

/// Lets a program run for longer and longer until there were some windows. Returns what it printed and what
/// the daemon did.
fn steered(folder: &Path, program: &Path, options: &[&str]) -> (String, serde_json::Value) {
    for seconds in [1, 4, 16, 40] {
        let mut running = preloaded(folder, program, options);
        std::thread::sleep(Duration::from_secs(seconds));
        drop(running.input.take());
        let mut text = String::new();
        running.output.read_line(&mut text).expect("text");
        assert_eq!(running.child.wait().expect("it ends").code(), Some(7));
        let done = fs::read(folder.join("done.json")).expect("it is written");
        let done: serde_json::Value = serde_json::from_slice(&done).expect("it is JSON");
        if done["windows"].as_u64() >= Some(6) {
            return (text.trim_end().to_owned(), done);
        }
    }
    panic!("there were no windows");
}

pub(crate) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}

#[test]
fn acquisitions_of_a_program_that_is_started_with_the_library_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = fighters(folder.path(), &[]).expect("it is compiled");
    let (printed, done) = steered(folder.path(), &program, &[]);
    let had: u64 = printed.parse().expect("its output is its own");
    let acquired = done["acquired"].as_u64().expect("they are counted");
    assert!((1..=had).contains(&acquired), "{acquired} of {had}");
    assert!(done["watched"].to_string().contains("measuring library"), "{done}");
    assert!(!done["not_seen"].to_string().contains("measuring library"), "{done}");
    assert!(is_empty(&folder.path().join("recordings")));
}

#[test]
fn threads_that_spin_for_recorded_locks_are_judged_by_acquisitions() {
    let Some(_) = all_cores() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = fighters(folder.path(), &["-DSPIN"]).expect("it is compiled");
    // A host that takes its cores away may show no contention.
    for _ in 0..5 {
        let (_, done) = steered(folder.path(), &program, &[]);
        let groups = done["groups"].as_array().expect("a list");
        if let Some(group) = groups.last() {
            assert_eq!(group["judged_by"], "acquisitions", "{done}");
            return;
        }
    }
    panic!("nobody was confined");
}

#[test]
fn a_program_that_cannot_load_the_library_is_told_and_steered_by_what_else_is_seen() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(program) = fighters(folder.path(), &["-static"]) else {
        eprintln!("not tested: this compiler links nothing statically");
        return;
    };
    let (_, done) = steered(folder.path(), &program, &["--dry-run"]);
    assert_eq!(done["acquired"], 0, "{done}");
    let unseen = done["not_seen"].to_string();
    assert!(unseen.contains("the locks of 1 processes that do not load"), "{done}");
    assert!(done["watched"].to_string().contains("/proc syscall"), "{done}");
    assert!(is_empty(&folder.path().join("recordings")));
}

/// Whether a process has a recording.
pub(crate) fn records(recordings: &Path) -> bool {
    let within = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    // Each folder lies in another one, which hides its name.
    let folders = within(recordings).into_iter().flat_map(|outer| within(&outer));
    let mut files = folders.flat_map(|folder| within(&folder));
    files.any(|file| file.extension().is_some_and(|extension| extension == "kcrec"))
}

#[test]
fn recordings_go_if_the_daemon_is_killed_and_the_program_goes_on() {
    for options in [&[][..], &["--dry-run"]] {
        let folder = tempfile::tempdir().expect("a folder");
        let program = fighters(folder.path(), &[]).expect("it is compiled");
        let recordings = folder.path().join("recordings");
        let mut program = preloaded(folder.path(), &program, options);
        wait_until("it records", || records(&recordings));
        program.child.kill().expect("it runs");
        wait_until("the folder is gone", || is_empty(&recordings));
        drop(program.input.take());
        let mut had = String::new();
        program.output.read_line(&mut had).expect("text");
        assert!(had.trim_end().parse::<u64>().expect("a number") > 0);
    }
}

#[test]
fn recordings_go_once_asked_for_after_daemon_and_guardian_were_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = fighters(folder.path(), &[]).expect("it is compiled");
    let recordings = folder.path().join("recordings");
    let mut program = preloaded(folder.path(), &program, &[]);
    wait_until("it records", || records(&recordings));
    let is_guardian = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains("steer-guardian")
    };
    let guardian = children(program.pid()).into_iter().find(is_guardian).expect("a guardian");
    kill_both(program.pid(), guardian);
    program.child.wait().expect("it ends");
    assert!(!is_empty(&recordings), "nobody is there to remove it");
    let restore = |folder: &Path, options: &[(&str, &Path)]| {
        let mut command = sched(folder);
        command.arg("--restore").env_remove("TMPDIR").envs(options.iter().copied());
        command.output().expect("it runs")
    };
    // Nothing goes from where such folders do not lie.
    let output = restore(folder.path(), &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && said.contains("set TMPDIR"), "{said}");
    assert!(!is_empty(&recordings));
    let output = restore(folder.path(), &[("TMPDIR", &recordings)]);
    assert!(output.status.success(), "{output:?}");
    assert!(is_empty(&recordings));
}

#[test]
fn a_process_that_runs_already_cannot_be_given_the_library() {
    let program = Program::of(1);
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = sched(folder.path());
    command.args(["--metrics", "preload", "--pid"]).arg(program.pid().to_string());
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--metrics auto with --pid"), "{said}");
}

/// Where the kernel offers none, the refusal names the mend.
#[test]
fn sleep_in_futexes_is_traced_or_that_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = fighters(folder.path(), &[]).expect("it is compiled");
    let mut running = Program::in_command(&mut Command::new(program));
    let json = folder.path().join("done.json");
    let mut command = sched(folder.path());
    command.args(["--metrics", "tracepoints", "--duration", "1s", "--output"]).arg(&json);
    let output = command.arg("--pid").arg(running.pid().to_string()).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(2) {
        assert!(said.contains("--metrics auto") && said.contains("tracefs"), "{said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let done: serde_json::Value =
        serde_json::from_slice(&fs::read(&json).expect("it is written")).expect("it is JSON");
    assert!(done["watched"].to_string().contains("tracepoints of the kernel"), "{done}");
    drop(running.input.take());
    assert_eq!(running.child.wait().expect("it ends").code(), Some(7));
}
