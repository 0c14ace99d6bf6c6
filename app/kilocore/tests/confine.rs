//! `kilocore doctor --confine`: a server is confined in turn while it serves, what it does is counted, and
//! everything is put back, whatever ends Kilocore.

#[path = "common/compiled.rs"]
mod compiled;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use compiled::compiled;
use kilocore_hardware::{CpuSet, affinity};
use kilocore_lock_profile::{Profile, Scaling, WhyNotTimed};

/// How long anything may take before a test fails.
const DEADLINE: Duration = Duration::from_secs(120);

/// A server with a thread for each connection. A request is a byte, for which it computes for as many
/// microseconds as its argument says, and answers a byte. With a second argument, its first thread takes a core of its
/// own.
const SERVER: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static double us;
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
static void *serve(void *at) {
    int connection = (int)(long)at;
    char byte;
    while (read(connection, &byte, 1) == 1) {
        double end = now() + us;
        while (now() < end) {}
        if (write(connection, &byte, 1) != 1) break;
    }
    close(connection);
    return NULL;
}
static void *sleeps(void *nothing) { for (;;) pause(); return nothing; }
int main(int count, char **words) {
    us = atof(words[1]);
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&at, size) || listen(listener, 64)) return 1;
    getsockname(listener, (void *)&at, &size);
    pthread_t thread;
    pthread_create(&thread, NULL, sleeps, NULL);
    if (count > 2) {
        cpu_set_t own, all;
        sched_getaffinity(0, sizeof all, &all);
        CPU_ZERO(&own);
        int core = 0;
        while (!CPU_ISSET(core, &all)) core++;
        CPU_SET(core, &own);
        sched_setaffinity(0, sizeof own, &own);
    }
    printf("%d\n", ntohs(at.sin_port));
    fflush(stdout);
    for (;;) {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0) return 2;
        if (pthread_create(&thread, NULL, serve, (void *)(long)connection)) return 3;
    }
}
"#;

fn built() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let program = compiled(&folder, "server", SERVER, &[]);
        (folder, program)
    });
    path
}

/// The cores are one test's at a time. `None` where there are too few, or the kernel lets nobody watch.
fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    let cores = affinity(0).expect("this thread").iter().count();
    let may_watch = kilocore_lock_recorder::can_watch();
    (cores > 1 && may_watch).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A server that runs, and is killed when this is dropped.
struct Server {
    child: Child,
    port: u16,
    before: CpuSet,
}

impl Server {
    fn start(words: &[&str]) -> Self {
        let mut command = Command::new(built());
        let mut child = command.args(words).stdout(Stdio::piped()).spawn().expect("it was built");
        let mut line = String::new();
        let output = child.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("text");
        let port = line.trim_end().parse().expect("a port");
        Self { child, port, before: affinity(0).expect("this thread") }
    }

    fn masks(&self) -> Vec<CpuSet> {
        let threads = kilocore_linux::threads(self.child.id());
        threads.into_iter().filter_map(|tid| affinity(tid).ok()).collect()
    }

    fn is_confined(&self) -> bool {
        self.masks().iter().all(|mask| *mask != self.before)
    }

    fn is_free(&self) -> bool {
        self.masks().iter().all(|mask| *mask == self.before)
    }

    /// `kilocore doctor` of it.
    fn doctor(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
        command.args(["doctor", "--duration", "1s", "--pid", &self.child.id().to_string()]);
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let hears_of_interrupts = || {
            // SAFETY: integers only; a system call.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
            Ok(())
        };
        // Shells let what they start in the background ignore interrupts, and so does Kilocore then.
        // SAFETY: makes one system call.
        unsafe { command.pre_exec(hears_of_interrupts) };
        command
    }

    /// What was measured of it, and what was said.
    fn measured(&self, words: &[&str]) -> (Scaling, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("kept.json");
        let mut command = self.doctor(words);
        let output = command.arg("--keep").arg(&file).output().expect("it runs");
        let said = text(&output);
        assert!(output.status.success(), "{said}");
        let profile = Profile::read(&file).expect("a profile");
        assert!(self.is_free(), "{said}");
        (profile.scaling.expect("it was asked for"), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(output: &Output) -> String {
    let [out, error] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    // Wherever lines are broken.
    format!("{out} {error}").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Clients that send the next request so long after they have an answer.
struct Clients {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Clients {
    fn of(server: &Server, count: usize, pause: Duration) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let client = |_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port)).expect("it listens");
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed)
                    && stream.write_all(b"?").is_ok()
                    && stream.read_exact(&mut [0]).is_ok()
                {
                    std::thread::sleep(pause);
                }
            })
        };
        let threads = (0..count).map(client).collect();
        Self { over, threads }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| thread.join().expect("it does not panic"));
    }
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let latest = Instant::now() + DEADLINE;
    while !is_so() {
        assert!(Instant::now() < latest, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_server_is_measured_on_one_core_and_on_more_while_it_serves() {
    let Some(_alone) = alone() else { return };
    let server = Server::start(&["2000"]);
    let _clients = Clients::of(&server, 8, Duration::ZERO);
    let (scaling, said) = server.measured(&["--confine", "--budget", "6s"]);
    assert!(scaling.windows && scaling.why_not.is_none(), "{said}");
    let counts: std::collections::BTreeSet<u32> =
        scaling.runs.iter().map(|run| run.cores).collect();
    assert!(counts.contains(&1) && counts.len() > 1, "{counts:?}");
    assert_eq!(scaling.runs.len(), 3 * counts.len(), "{said}");
    for run in &scaling.runs {
        // However busy the host is, who is confined cannot use more.
        assert!(run.busy_cores() < f64::from(run.cores) + 0.1, "{run:?}");
        assert!(run.work > 0.0, "{run:?}");
        // A request takes 2 ms of a core, and is answered by one send or one byte each way.
        let each = if scaling.unit == "send" { 2e6 } else { 1e6 };
        let computed = run.work * each / run.cpu_time.0;
        assert!((0.6..1.1).contains(&computed), "{computed}: {run:?}");
    }
    assert!(said.contains("of windows, confined while it ran on"), "{said}");
}

#[test]
fn a_load_that_fills_no_cores_proves_nothing() {
    let Some(_alone) = alone() else { return };
    let server = Server::start(&["1000"]);
    {
        let _client = Clients::of(&server, 1, Duration::from_millis(9));
        let (scaling, said) = server.measured(&["--confine", "--budget", "5s"]);
        // Of the cores that others fill, nobody knows what the program could do.
        let disturbed = said.contains("Other programs had much of the cores");
        let unknown = said.contains("the load does not fill one core");
        assert!(disturbed || unknown, "{said}");
        let filled = scaling.points().iter().any(|point| point.filled);
        assert!(disturbed || !filled, "{said}");
    }
    let (scaling, said) = server.measured(&["--confine", "--budget", "5s"]);
    assert_eq!(scaling.why_not, Some(WhyNotTimed::Idle), "{said}");
    assert!(said.contains("it sent nothing meanwhile"), "{said}");
}

/// Kilocore is ended by a signal while a server is confined.
fn ends_by(signal: libc::c_int) {
    let Some(_alone) = alone() else { return };
    let server = Server::start(&["100"]);
    let clients = Clients::of(&server, 2, Duration::from_millis(1));
    let kilocore = server.doctor(&["--confine", "--budget", "60s"]).spawn().expect("it runs");
    wait_until("it is confined", || server.is_confined());
    // Their threads are born confined.
    let more = Clients::of(&server, 4, Duration::from_millis(1));
    // SAFETY: integers only; a child that nobody has waited for.
    unsafe { libc::kill(kilocore.id() as libc::pid_t, signal) };
    let output = kilocore.wait_with_output().expect("a child");
    wait_until("it is as it was", || server.is_free());
    assert_eq!(server.masks().len(), 8);
    drop((clients, more));
    if signal != libc::SIGKILL {
        let said = text(&output);
        assert!(said.contains("somebody asked for the end"), "{said}");
        // The guardian would say that. It is for a Kilocore that was killed.
        assert!(!said.contains("got their affinity back"), "{said}");
    }
}

#[test]
fn all_cores_are_back_after_an_interrupt() {
    ends_by(libc::SIGINT);
}

#[test]
fn all_cores_are_back_after_termination() {
    ends_by(libc::SIGTERM);
}

#[test]
fn all_cores_are_back_after_kilocore_was_killed() {
    ends_by(libc::SIGKILL);
}

#[test]
fn threads_with_cores_of_their_own_are_left_alone() {
    let Some(_alone) = alone() else { return };
    let server = Server::start(&["100", "own"]);
    let own = server.masks();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("kept.json");
    let mut command = server.doctor(&["--confine", "--keep"]);
    let said = text(&command.arg(&file).output().expect("it runs"));
    let scaling = Profile::read(&file).expect("a profile").scaling.expect("it was asked for");
    assert_eq!(scaling.why_not, Some(WhyNotTimed::OwnCores), "{said}");
    assert_eq!(server.masks(), own);
}

#[test]
fn nobody_is_confined_who_did_not_ask_for_that_and_for_how_long() {
    let Some(_alone) = alone() else { return };
    let server = Server::start(&["100"]);
    let _clients = Clients::of(&server, 2, Duration::from_millis(1));
    let (scaling, said) = server.measured(&[]);
    assert_eq!(scaling.why_not, Some(WhyNotTimed::Attached));
    assert!(said.contains("`--confine` measures it"), "{said}");
    for (words, part) in [
        (&["--pid", "1", "--confine"][..], "--duration"),
        (&["--pid", "1", "--duration", "1", "--confine", "--budget", "0"], "--budget"),
        (&["--pid", "1", "--tree", "--duration", "1", "--confine"], "process 1 has started all"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
        let output = command.arg("doctor").args(words).output().expect("it runs");
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
}
