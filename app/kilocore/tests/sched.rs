//! `kilocore sched` puts every affinity back, whatever ends it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long anything may take before a test fails.
const DEADLINE: Duration = Duration::from_secs(60);

/// A program with as many sleeping threads as its argument says. For each line on its input it starts one
/// more, from a thread that was there; `own` lets its first thread choose a core on which it is not. It says when
/// that is done, and ends with status 7 at the input's end.
const SLEEPERS: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *sleeps(void *nothing) { for (;;) pause(); return nothing; }
static void start(void) {
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    if (pthread_create(&thread, &small, sleeps, NULL)) exit(3);
}
int main(int count, char **words) {
    char line[64];
    cpu_set_t all;
    sched_getaffinity(0, sizeof all, &all);
    for (int made = 1; made < (count > 1 ? atoi(words[1]) : 1); made++) start();
    puts("ready"); fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "own\n")) {
            cpu_set_t now, own;
            CPU_ZERO(&own);
            sched_getaffinity(0, sizeof now, &now);
            int core = 0;
            while (!CPU_ISSET(core, &all) || CPU_ISSET(core, &now)) core++;
            CPU_SET(core, &own);
            if (sched_setaffinity(0, sizeof own, &own)) exit(4);
        } else if (!strcmp(line, "fork\n")) {
            if (fork() == 0) for (;;) pause();
        } else start();
        puts("done"); fflush(stdout);
    }
    return 7;
}
"#;

fn sleepers() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, program) = (folder.path().join("sleepers.c"), folder.path().join("sleepers"));
        fs::write(&source, SLEEPERS).expect("room");
        let mut compiler = Command::new("cc");
        let compiled = compiler.args(["-O1", "-pthread", "-o"]).arg(&program).arg(&source).status();
        assert!(compiled.expect("a compiler").success());
        (folder, program)
    });
    path
}

/// A program that runs, and ends when this is dropped.
struct Program {
    child: Child,
    /// None once it has ended.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn of(threads: usize) -> Self {
        Self::in_command(Command::new(sleepers()).arg(threads.to_string()))
    }

    fn in_command(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut program = Self { child, input, output };
        program.hear("ready");
        program
    }

    fn hear(&mut self, word: &str) {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("text");
        assert_eq!(line.trim_end(), word);
    }

    fn tell(&mut self, word: &str) {
        let input = self.input.as_mut().expect("it has not ended");
        writeln!(input, "{word}").expect("it listens");
        self.hear("done");
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn children(pid: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("proc").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|child| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        parent == Some(pid)
    })
    .collect()
}

/// Where each thread of a process may run.
fn masks(pid: u32) -> Vec<String> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let status =
        threads.flatten().filter_map(|it| fs::read_to_string(it.path().join("status")).ok());
    let mask = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.map(|list| list.trim().to_owned())
    };
    status.filter_map(mask).collect()
}

#[track_caller]
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

/// The mask that everything begins with, or `None`, told, where there is but one core.
fn all_cores() -> Option<String> {
    let own = masks(std::process::id()).pop().expect("this thread");
    let several = own.contains([',', '-']);
    if !several {
        eprintln!("not tested: one core is no confinement");
    }
    several.then_some(own)
}

/// A daemon with a runtime folder of its own.
struct Daemon {
    child: Child,
    folder: tempfile::TempDir,
}

fn sched(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    command.arg("sched").env("XDG_RUNTIME_DIR", folder);
    command
}

impl Daemon {
    /// Pins the threads of a process, one core each.
    fn pins(pid: u32) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = sched(folder.path());
        command.args(["--policy", "pinned", "--window", "20ms", "--metrics", "proc"]);
        command.arg("--pid").arg(pid.to_string()).stderr(Stdio::piped());
        Self { child: command.spawn().expect("it starts"), folder }
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: integers only; the child has not been waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    fn end(self) -> (Output, tempfile::TempDir) {
        (self.child.wait_with_output().expect("it ends"), self.folder)
    }
}

fn confined(pid: u32, all: &str) -> bool {
    let masks = masks(pid);
    !masks.is_empty() && masks.iter().all(|mask| mask != all)
}

fn restored(pid: u32, all: &str) -> bool {
    let masks = masks(pid);
    !masks.is_empty() && masks.iter().all(|mask| mask == all)
}

fn journals(folder: &Path) -> usize {
    let inside = fs::read_dir(folder).expect("it is there").flatten().map(|entry| entry.path());
    inside.filter_map(|path| fs::read_dir(path).ok()).flatten().count()
}

/// Confines threads, also one that is made meanwhile, and ends the daemon by a signal.
fn ends_by(signal: libc::c_int) {
    let Some(all) = all_cores() else { return };
    let mut program = Program::of(4);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    program.tell("more");
    program.tell("fork");
    daemon.signal(signal);
    let (output, folder) = daemon.end();
    let children = children(program.pid());
    assert_eq!(children.len(), 1);
    wait_until("all are as they were", || {
        restored(program.pid(), &all) && restored(children[0], &all)
    });
    wait_until("the journal is gone", || journals(folder.path()) == 0);
    // SAFETY: integers only; a child of a program that still runs.
    unsafe { libc::kill(children[0] as libc::pid_t, libc::SIGKILL) };
    if signal != libc::SIGKILL {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn affinities_are_back_after_an_interrupt() {
    ends_by(libc::SIGINT);
}

#[test]
fn affinities_are_back_after_termination() {
    ends_by(libc::SIGTERM);
}

#[test]
fn affinities_are_back_after_a_hangup() {
    ends_by(libc::SIGHUP);
}

#[test]
fn affinities_are_back_after_the_daemon_was_killed() {
    ends_by(libc::SIGKILL);
}

#[test]
fn affinities_are_back_once_asked_for_after_daemon_and_guardian_were_killed() {
    let Some(all) = all_cores() else { return };
    let program = Program::of(4);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    let guardians = children(daemon.child.id());
    assert_eq!(guardians.len(), 1);
    daemon.signal(libc::SIGSTOP);
    // SAFETY: integers only; the child of a process that has not been waited for.
    unsafe { libc::kill(guardians[0] as libc::pid_t, libc::SIGKILL) };
    daemon.signal(libc::SIGKILL);
    let (_, folder) = daemon.end();
    assert!(confined(program.pid(), &all), "nobody is there to put it back");
    let output = sched(folder.path()).arg("--restore").output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("4 threads got their affinity back"), "{said}");
    assert!(restored(program.pid(), &all));
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn what_a_program_chooses_itself_stays() {
    let Some(all) = all_cores() else { return };
    let mut program = Program::of(4);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    program.tell("own");
    daemon.signal(libc::SIGTERM);
    let (output, _) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    let own = masks(program.pid()).into_iter().filter(|mask| *mask != all).count();
    assert_eq!(own, 1, "its first thread's");
}

#[test]
fn a_program_keeps_its_streams_and_status() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = sched(folder.path());
    command.args(["--policy", "pinned", "--window", "20ms", "--"]).arg(sleepers()).arg("3");
    let mut program = Program::in_command(&mut command);
    program.tell("more");
    drop(program.input.take());
    assert_eq!(program.child.wait().expect("it ends").code(), Some(7));
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn a_dry_run_confines_nothing() {
    let Some(all) = all_cores() else { return };
    let program = Program::of(4);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("done.json");
    let mut command = sched(folder.path());
    command.args(["--dry-run", "--policy", "pinned", "--window", "20ms", "--for", "1s", "--json"]);
    let mut child = command.arg(&file).arg("--pid").arg(program.pid().to_string()).spawn().unwrap();
    while child.try_wait().expect("a child").is_none() {
        assert!(restored(program.pid(), &all));
    }
    let done: serde_json::Value =
        serde_json::from_slice(&fs::read(&file).expect("it is written")).expect("it is JSON");
    assert!(done["orders"].as_u64() >= Some(4), "it tells what it would do: {done}");
}

#[test]
fn ten_thousand_threads_are_confined_and_restored() {
    let Some(all) = all_cores() else { return };
    let program = Program::of(10_000);
    let daemon = Daemon::pins(program.pid());
    wait_until("all are confined", || confined(program.pid(), &all));
    daemon.signal(libc::SIGTERM);
    let (output, _) = daemon.end();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(masks(program.pid()).len(), 10_000);
    assert!(restored(program.pid(), &all));
}

#[test]
fn a_process_that_is_not_there_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = sched(folder.path()).args(["--pid", "4194305"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("no process 4194305"), "{output:?}");
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn a_process_of_another_user_is_refused() {
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("not tested, as only root can become another user");
        return;
    }
    let program = Program::of(2);
    let folder = tempfile::tempdir().expect("a folder");
    // Nobody may not execute what lies in somebody's private folder.
    let copy = folder.path().join("kilocore");
    fs::copy(env!("CARGO_BIN_EXE_kilocore"), &copy).expect("room");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), open).expect("it is ours");
    let mut command = Command::new(&copy);
    command.args(["sched", "--metrics", "proc", "--pid"]).arg(program.pid().to_string());
    let output = std::os::unix::process::CommandExt::uid(&mut command, 65_534).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("another user") && said.contains("CAP_SYS_NICE"), "{said}");
}

#[test]
fn a_live_view_without_a_terminal_is_refused_before_the_program_exists() {
    let mut command = Command::new("setsid");
    let output = command
        .args(["-w", env!("CARGO_BIN_EXE_kilocore")])
        .args(["sched", "--metrics", "proc", "--watch", "--", "echo", "it ran"])
        .output()
        .expect("setsid");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("/dev/tty") && message.contains("--log FILE"), "{message}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_live_view_gives_the_terminal_back_as_it_was() {
    let kilocore = env!("CARGO_BIN_EXE_kilocore");
    let session = format!(
        "stty rows 24 cols 80; stty -g; {} sched --metrics proc --watch -- sh -c 'sleep 2; exit 7' 2>/dev/null; echo status $?; stty -g",
        kilocore
    );
    let output = Command::new("script").args(["-qec", &session, "/dev/null"]).output();
    let text = String::from_utf8(output.expect("script").stdout).expect("text");
    let (before, rest) = text.split_once("\u{1b}[?1049h").expect("the view begins");
    let (view, after) = rest.rsplit_once("\u{1b}[?1049l").expect("the view ends");
    assert!(view.contains("lock-aware") && view.contains("closes"), "{view}");
    let after: Vec<&str> = after.split_whitespace().collect();
    assert_eq!(after, ["status", "7", before.trim()]);
}

/// What `kilocore sched` says, when it refuses to start a program with these options.
fn refused(options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let (log, made) = (folder.path().join("log.txt"), folder.path().join("made"));
    let mut command = sched(folder.path());
    command.args(options).arg("--log").arg(&log).args(["--", "touch"]).arg(&made);
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!log.exists() && !made.exists(), "nothing is written, and nothing begins");
    assert_eq!(journals(folder.path()), 0);
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn policies_that_need_hardware_counters_are_refused_where_there_are_none() {
    for policy in ["distributed-intensity", "intensity", "complement"] {
        let said = refused(&["--policy", policy, "--metrics", "proc"]);
        let mend = said.contains("take --metrics auto") && said.contains("lock-aware");
        assert!(said.contains(&format!("policy {policy} decides by hardware counters")), "{said}");
        assert!(mend, "{said}");
    }
}

#[test]
fn a_policy_that_needs_a_driver_inside_the_scheduler_is_refused() {
    let said = refused(&["--policy", "companions"]);
    assert!(said.contains("driver inside the scheduler"), "{said}");
    assert!(said.contains("kilocore simulate sched --experiment cache"), "{said}");
}

/// Threads that fight for a mutex until the input ends, then say how often they had it.
const FIGHTERS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int over;
static long had;
static void *fights(void *nothing) {
    while (!over) {
        pthread_mutex_lock(&lock);
        had++;
        usleep(100);
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}
int main(void) {
    pthread_t threads[4];
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
fn fighters(folder: &Path, options: &[&str]) -> Option<PathBuf> {
    let (source, program) = (folder.join("fighters.c"), folder.join("fighters"));
    fs::write(&source, FIGHTERS).expect("room");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-pthread"]).args(options).arg("-o").arg(&program).arg(&source);
    compiler.status().expect("a compiler").success().then_some(program)
}

/// A program under the daemon, whose recordings lie in a folder of the test.
fn preloaded(folder: &Path, program: &Path, options: &[&str]) -> Program {
    let recordings = folder.join("recordings");
    let _ = fs::create_dir(&recordings);
    let mut command = sched(folder);
    command.args(["--metrics", "preload", "--window", "20ms", "--json"]);
    command.arg(folder.join("done.json")).args(options).arg("--").arg(program);
    Program::in_command(command.env("TMPDIR", recordings))
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

fn is_empty(folder: &Path) -> bool {
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
fn records(recordings: &Path) -> bool {
    let folders = fs::read_dir(recordings).expect("a folder").flatten();
    let mut files = folders.filter_map(|folder| fs::read_dir(folder.path()).ok()).flatten();
    files.next().is_some()
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
        String::from_utf8_lossy(&words).contains("sched-guardian")
    };
    let guardian = children(program.pid()).into_iter().find(is_guardian).expect("a guardian");
    for signal_to in [(libc::SIGSTOP, program.pid()), (libc::SIGKILL, guardian)] {
        // SAFETY: integers only; both are processes of this test that have not been waited for.
        unsafe { libc::kill(signal_to.1 as libc::pid_t, signal_to.0) };
    }
    program.child.kill().expect("it runs");
    program.child.wait().expect("it ends");
    assert!(!is_empty(&recordings), "nobody is there to remove it");
    let output = sched(folder.path()).arg("--restore").output().expect("it runs");
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
    command.args(["--metrics", "tracepoints", "--for", "1s", "--json"]).arg(&json);
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
