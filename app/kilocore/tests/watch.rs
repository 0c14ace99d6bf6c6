//! Watching programs from outside: locks that no library under the program sees, in programs that
//! run already.

#[path = "common/compiled.rs"]
mod compiled;
mod watch_as_user;
mod watch_edges;
mod watch_kernel;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use kilocore_lock_profile::{Lock, Profile};
use serde_json::Value;

/// The command line under test.
fn kilocore() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kilocore"))
}

/// How a command ended, and what it said.
struct Run {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(command: &mut Command) -> Run {
    let output = command.output().expect("kilocore runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// A program whose threads take turns at a lock of their own making: a futex, which no library
/// sees. Inside they take a mutex, which a library sees and nobody waits for. It prints its id, runs until it is told to end, and then prints how often the lock was
/// taken.
const PLANTED: &str = r#"
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

atomic_int planted_lock;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static long acquisitions;
static atomic_int over;
static double hold_us, think_us;

static void take(void) {
    int free = 0;
    if (atomic_compare_exchange_strong(&planted_lock, &free, 1)) return;
    while (atomic_exchange(&planted_lock, 2) != 0)
        syscall(SYS_futex, &planted_lock, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}
static void give_back(void) {
    if (atomic_exchange(&planted_lock, 0) == 2)
        syscall(SYS_futex, &planted_lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
static void busy(double us) {
    double end = now() + us;
    while (now() < end) {}
}
__attribute__((noinline)) static void planted_section(void) {
    take();
    busy(hold_us);
    pthread_mutex_lock(&counting);
    acquisitions++;
    pthread_mutex_unlock(&counting);
    give_back();
}
static void *work(void *unused) {
    (void)unused;
    while (!over) {
        planted_section();
        busy(think_us);
    }
    return NULL;
}
static void end(int signal) { (void)signal; over = 1; }

int main(int count, char **words) {
    (void)count;
    int threads = atoi(words[1]);
    hold_us = atof(words[2]);
    think_us = atof(words[3]);
    signal(SIGTERM, end);
    pthread_t all[64];
    for (int i = 0; i < threads; i++) pthread_create(all + i, NULL, work, NULL);
    printf("ready %d\n", getpid());
    fflush(stdout);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    printf("acquisitions %ld\n", acquisitions);
    return 0;
}
"#;

/// Builds the program, linked statically or not.
fn planted(folder: &Path, linked: &[&str]) -> PathBuf {
    let (source, program) = (folder.join("planted.c"), folder.join("planted"));
    fs::write(&source, PLANTED).expect("there is room");
    let status = Command::new("gcc")
        .args(["-O2", "-pthread", "-o"])
        .arg(&program)
        .arg(&source)
        .args(linked)
        .status()
        .expect("there is a compiler");
    assert!(status.success());
    program
}

/// The program, running. It is killed when the test ends.
struct Running {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(program: &Path, words: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(words)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it was just built");
        let mut output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut line = String::new();
        output.read_line(&mut line).expect("it says that it is ready");
        assert!(line.starts_with("ready "), "{line}");
        Self { child, output }
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Ends it, and returns how often the lock was taken.
    fn end(mut self) -> u64 {
        // SAFETY: integers only; the program is this test's and was not waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, libc::SIGTERM) };
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it says how often");
        assert!(self.child.wait().expect("it is this test's").success());
        line.trim().strip_prefix("acquisitions ").expect("a count").parse().expect("a number")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether this user may watch whole cores and this machine has watchpoints. Elsewhere, what is
/// tested is that the refusal is told.
fn can_watch(answer: &Run) -> bool {
    if answer.status == Some(2) {
        assert!(answer.stderr.contains("perf"), "{}", answer.stderr);
        return false;
    }
    true
}

fn profile(answer: &Run) -> Profile {
    serde_json::from_str(&answer.stdout).expect("it is a profile")
}

/// The lock that was planted, which is the one that threads waited for longest.
fn first_lock(profile: &Profile) -> &Lock {
    let locks = profile.runs[0].processes.iter().flat_map(|process| &process.locks);
    locks.max_by(|a, b| a.wait.sum.total_cmp(&b.wait.sum)).expect("there is a lock")
}

/// Checks what was found of the planted lock, by what the program says itself.
fn check(profile: &Profile) {
    let lock = first_lock(profile);
    let place = lock.place.as_deref().unwrap_or_default();
    assert!(place.starts_with("planted_lock in "), "{lock:?}");
    let taken = |site: &[kilocore_lock_profile::Frame]| {
        site.iter().any(|frame| frame.function == "planted_section")
    };
    assert!(lock.callers.iter().any(|caller| taken(&caller.site)), "{:?}", lock.callers);
    let precision = lock.precision.as_ref().expect("it was watched");
    let (hold, interval) = (lock.hold.mean().0 / 1e3, precision.hold.expect("it is a lock"));
    // The program computes for 50 µs of its thread's time, and the reading of the clock takes a
    // little. Hosts of this test are disturbed, so its bounds are far wider than its precision.
    assert!((35.0..100.0).contains(&hold), "{hold} µs");
    assert!((interval.low..=interval.high).contains(&lock.hold.mean()));
    let watching = profile.runs[0].watching.as_ref().expect("it was watched");
    assert!(watching.windows > 0 && watching.refused.is_none(), "{watching:?}");
    assert!(watching.cost_share < 0.1, "{watching:?}");
}

#[test]
fn a_running_program_is_watched_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&planted(folder.path(), &[]), &["3", "50", "100"]);
    let pid = running.pid();
    let words = ["record", "locks", "--json", "--pid", pid.as_str(), "--duration", "3"];
    let answer = run(kilocore().args(words));
    if !can_watch(&answer) {
        return;
    }
    assert_eq!(answer.status, Some(0), "{}", answer.stderr);
    let profile = profile(&answer);
    check(&profile);
    let run = &profile.runs[0];
    assert!(run.watching.as_ref().is_some_and(|watching| watching.attached));
    // To measure it, two threads would have to spin on cores that the program needs.
    assert_eq!(profile.host.core_to_core, None);
    // It counts for longer than it was watched.
    let (counted, estimate) = (running.end(), first_lock(&profile).acquisitions);
    assert!(estimate > 1_000 && (estimate as f64) < 1.5 * counted as f64, "{estimate} {counted}");
}

#[test]
fn a_static_program_is_watched_without_being_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let program = planted(folder.path(), &["-static"]);
    let answer = run(kilocore()
        .args(["record", "locks", "--json", "--duration", "3", "--"])
        .arg(&program)
        .args(["3", "50", "100"]));
    if can_watch(&answer) {
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        check(&profile(&answer));
        assert!(answer.stderr.contains("acquisitions "), "its own output: {}", answer.stderr);
    }
}

#[test]
fn both_recorders_together_see_what_each_sees() {
    let folder = tempfile::tempdir().unwrap();
    let program = planted(folder.path(), &[]);
    let answer = run(kilocore()
        .args(["record", "locks", "--json", "--recorder", "both", "--duration", "3", "--"])
        .arg(&program)
        .args(["3", "50", "100"]));
    if !can_watch(&answer) {
        return;
    }
    assert_eq!(answer.status, Some(0), "{}", answer.stderr);
    let profile = profile(&answer);
    check(&profile);
    let run = &profile.runs[0];
    assert!(run.times.is_some() && run.watching.as_ref().is_some_and(|of| of.beside_library));
    let [process] = run.processes.as_slice() else { panic!("{:?}", run.processes) };
    // Only the library saw the mutex, and it saw every use.
    let recorded: Vec<_> = process.locks.iter().filter(|lock| lock.precision.is_none()).collect();
    let [mutex] = recorded.as_slice() else { panic!("{recorded:?}") };
    let said = answer.stderr.lines().find_map(|line| line.strip_prefix("acquisitions "));
    let counted: u64 = said.expect("its own output").parse().expect("a count");
    assert!(mutex.acquisitions > 1_000 && mutex.acquisitions <= counted, "{mutex:?} {counted}");
}

/// Leaves out of a profile what other programs had of the cores: other tests run beside this one, and a busy
/// host gets no verdict.
fn forget_the_company(profile: &Path) {
    let mut document: Value =
        serde_json::from_str(&fs::read_to_string(profile).unwrap()).expect("a profile");
    document["runs"][0].as_object_mut().expect("a run").remove("interference");
    fs::write(profile, document.to_string()).unwrap();
}

#[test]
fn a_forecast_says_what_to_do_about_a_lock_that_run_cannot_replace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.json");
    let program = planted(folder.path(), &[]);
    // On a busy machine a few seconds may show too little of the lock for a forecast.
    let mut said = Vec::new();
    for seconds in ["3", "6", "12"] {
        let words = ["record", "locks", "--recorder", "watch", "--duration", seconds, "--output"];
        let program = ["--", program.to_str().expect("a plain path"), "4", "5", "10"];
        let measured = run(kilocore().args(words).arg(&path).args(program));
        if !can_watch(&measured) {
            return;
        }
        forget_the_company(&path);
        let words =
            ["forecast", "--machine", "opteron-6344-4s", "--cores", "1,16,48", "--lock", "mcs"];
        let answer = run(kilocore().args(words).arg(&path));
        assert_eq!(answer.status, Some(0), "{}", answer.stderr);
        let text = answer.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Watched from outside in "), "{text}");
        assert!(!text.contains("kilocore run --lock"), "{text}");
        if text.contains("Limited by locks") && text.contains("`kilocore run` does not replace") {
            return;
        }
        said.push(text);
    }
    panic!("{}", said.join("\n"));
}

#[test]
fn killed_in_the_middle_it_leaves_the_program_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::start(&planted(folder.path(), &[]), &["3", "20", "20"]);
    let pid = running.pid();
    let mut watcher = kilocore()
        .args(["record", "locks", "--json", "--pid", pid.as_str()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it was built");
    // As soon as it has opened an event, in whatever state it is.
    let descriptors = format!("/proc/{}/fd", watcher.id());
    let is_watching = || {
        fs::read_dir(&descriptors).into_iter().flatten().flatten().any(|entry| {
            fs::read_link(entry.path())
                .is_ok_and(|target| target.to_string_lossy().contains("perf_event"))
        })
    };
    while !is_watching() && watcher.try_wait().expect("it is this test's").is_none() {
        std::thread::yield_now();
    }
    watcher.kill().expect("it is this test's");
    watcher.wait().expect("it was killed");
    assert!(running.child.try_wait().expect("it is this test's").is_none(), "it runs on");
    assert!(running.end() > 0);
}

#[test]
fn what_cannot_be_watched_is_refused_with_a_reason() {
    for (words, expected) in [
        (vec!["record", "locks", "--pid", "4294967294"], "there is no process 4294967294"),
        (
            vec!["record", "locks", "--recorder", "preload", "--pid", "1"],
            "leave out --recorder, or say --recorder watch",
        ),
        (
            vec!["doctor", "--recorder", "both", "--pid", "1"],
            "leave out --recorder, or say --recorder watch",
        ),
        (vec!["doctor", "--pid", "none"], "invalid value"),
        (vec!["record", "locks", "--tree", "true"], "--pid"),
        (
            vec!["record", "locks", "--output", "page.html", "true"],
            "kilocore show FILE --output page.html",
        ),
        (
            vec!["doctor", "--keep", "page.html", "--", "true"],
            "kilocore show FILE --output page.html",
        ),
    ] {
        let answer = run(kilocore().args(&words));
        assert_eq!(answer.status, Some(2), "{words:?}: {}", answer.stderr);
        assert!(answer.stderr.contains(expected), "{words:?}: {}", answer.stderr);
        assert!(answer.stdout.is_empty());
    }
}

#[test]
fn a_program_that_ends_at_once_is_no_failure() {
    let answer =
        run(kilocore().args(["record", "locks", "--json", "--recorder", "watch", "--", "true"]));
    if can_watch(&answer) {
        let profile = profile(&answer);
        let locks = profile.runs.iter().flat_map(|run| &run.processes).map(|p| p.locks.len());
        assert_eq!(locks.sum::<usize>(), 0);
    }
}
