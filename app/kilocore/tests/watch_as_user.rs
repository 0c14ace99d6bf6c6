//! Watching as an ordinary user, who may see his own threads only.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kilocore_lock_profile::{Lock, Profile, Rights};

use crate::{first_lock, profile, run};

/// The user `nobody`.
const USER: u32 = 65534;

/// A program whose threads take turns at a mutex. It prints its id, runs until it is told to end,
/// and then prints how often the mutex was taken a second.
const PLANTED: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t planted_mutex = PTHREAD_MUTEX_INITIALIZER;
static long acquisitions;
static atomic_int over;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
static void busy(double us) {
    double end = now(CLOCK_THREAD_CPUTIME_ID) + us;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end) {}
}
__attribute__((noinline)) static void planted_section(void) {
    pthread_mutex_lock(&planted_mutex);
    busy(30);
    acquisitions++;
    pthread_mutex_unlock(&planted_mutex);
}
static void *work(void *unused) {
    while (!over) {
        planted_section();
        busy(200);
    }
    return unused;
}
static void end(int signal) { (void)signal; over = 1; }

int main(void) {
    signal(SIGTERM, end);
    double begin = now(CLOCK_MONOTONIC);
    pthread_t all[2];
    for (int i = 0; i < 2; i++) pthread_create(all + i, NULL, work, NULL);
    printf("ready %d\n", getpid());
    fflush(stdout);
    for (int i = 0; i < 2; i++) pthread_join(all[i], NULL);
    printf("%f\n", acquisitions / (now(CLOCK_MONOTONIC) - begin) * 1e6);
    return 0;
}
"#;

/// A command that runs as an ordinary user.
fn as_user(program: &Path) -> Command {
    let mut command = Command::new(program);
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(USER).gid(USER);
    }
    command
}

/// A folder that everybody may read, with the program and Kilocore in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("there is room");
    let open = |path: &Path| fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    open(folder.path());
    let source = folder.path().join("planted.c");
    fs::write(&source, PLANTED).expect("there is room");
    let built = Command::new("gcc")
        .args(["-O2", "-pthread", "-o"])
        .arg(folder.path().join("planted"))
        .arg(&source)
        .status();
    assert!(built.expect("there is a compiler").success());
    kilocore_shipped::copy_to_run(
        Path::new(env!("CARGO_BIN_EXE_kilocore")),
        &folder.path().join("kilocore"),
    );
    for name in ["planted", "kilocore"] {
        open(&folder.path().join(name));
    }
    folder
}

/// The program, running. It is killed when the test ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Watches the program for some seconds. Returns the profile, and how often the mutex was taken in
/// the time that the profile is of; nothing if the machine refuses.
fn watched(folder: &Path) -> Option<(Profile, f64)> {
    let mut planted = as_user(&folder.join("planted"));
    let mut running = Running(planted.stdout(Stdio::piped()).spawn().expect("it was just built"));
    let mut output = BufReader::new(running.0.stdout.take().expect("it is a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("it says that it is ready");
    let pid = running.0.id().to_string();
    let words = ["record", "locks", "--json", "--duration", "3", "--pid", pid.as_str()];
    let answer = run(as_user(&folder.join("kilocore")).current_dir(folder).args(words));
    if answer.status == Some(2) {
        let mends = ["sysctl kernel.", "--security-opt", "--cap-add", "x86-64 only"];
        let named = mends.iter().any(|mend| answer.stderr.contains(mend));
        assert!(named && answer.stdout.is_empty(), "{}", answer.stderr);
        return None;
    }
    assert_eq!(answer.status, Some(0), "{}", answer.stderr);
    // SAFETY: integers only; the program is this test's and was not waited for.
    unsafe { libc::kill(running.0.id() as libc::pid_t, libc::SIGTERM) };
    line.clear();
    output.read_line(&mut line).expect("it says how often");
    assert!(running.0.wait().expect("it is this test's").success());
    let a_second: f64 = line.trim().parse().expect("a number");
    let profile = profile(&answer);
    let truth = a_second * profile.runs[0].wall_time.seconds();
    Some((profile, truth))
}

/// Whether the acquisitions are right: within the interval that is printed, or nearly.
fn is_right(lock: &Lock, truth: f64) -> bool {
    let interval = lock.precision.as_ref().and_then(|precision| precision.acquisitions);
    let near = (lock.acquisitions as f64 / truth - 1.0).abs() < 0.15;
    near || interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
}

#[test]
fn an_ordinary_user_watches_his_own_program() {
    let folder = folder();
    // Others disturb the machine of this test, and the program takes its mutex more often at one
    // time than at another. That is not so every time.
    let mut wrong = Vec::new();
    for _ in 0..5 {
        let Some((profile, truth)) = watched(folder.path()) else { return };
        let watching = profile.runs[0].watching.as_ref().expect("it was watched");
        if watching.rights == Rights::WholeCores {
            // Everybody may see everything here, or this process may not become somebody else.
            return;
        }
        assert_eq!(watching.followed_share, Some(1.0), "{watching:?}");
        let lock = first_lock(&profile);
        let place = lock.place.as_deref().unwrap_or_default();
        assert!(place.starts_with("planted_mutex in "), "{lock:?}");
        if watching.refused.is_some() {
            // The machine has no watchpoints to give. What was looked at is known.
            return;
        }
        let waits_in = |name: &str| {
            let mut frames = lock.callers.iter().flat_map(|caller| &caller.site);
            frames.any(|frame| frame.function == name)
        };
        // Nor is a thread seen to begin to wait in each of the few windows.
        let is_named = waits_in("planted_section");
        assert!(watching.unknown_share < 0.5 && watching.cost_share < 0.1, "{watching:?}");
        if is_named && is_right(lock, truth) {
            return;
        }
        wrong.push((lock.acquisitions, truth, lock.callers.clone()));
    }
    panic!("acquisitions, how many there were, and who was seen to wait: {wrong:?}");
}

#[test]
fn somebody_elses_program_is_refused_with_a_reason() {
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    let folder = folder();
    let pid = std::process::id().to_string();
    let words = ["record", "locks", "--json", "--duration", "1", "--pid", pid.as_str()];
    let answer =
        run(as_user(&folder.path().join("kilocore")).current_dir(folder.path()).args(words));
    assert_eq!(answer.status, Some(2), "{}", answer.stderr);
    assert!(answer.stderr.contains("belongs to another user"), "{}", answer.stderr);
}
