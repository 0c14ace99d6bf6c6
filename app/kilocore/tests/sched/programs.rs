//! Programs to steer, and daemons that steer them.

use std::ffi::{CStr, CString};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::compiled::compiled;

/// How long anything may take before a test fails.
const DEADLINE: Duration = Duration::from_secs(60);

/// A program with as many sleeping threads as its argument says. For each line on its input it starts one
/// more, from a thread that was there; `own` lets its first thread choose a core on which it is not, and `here` those on which it is. It says when
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
        } else if (!strcmp(line, "here\n")) {
            cpu_set_t now;
            sched_getaffinity(0, sizeof now, &now);
            if (sched_setaffinity(0, sizeof now, &now)) exit(5);
        } else if (!strcmp(line, "fork\n")) {
            if (fork() == 0) for (;;) pause();
        } else start();
        puts("done"); fflush(stdout);
    }
    return 7;
}
"#;

pub(crate) fn sleepers() -> &'static Path {
    static PROGRAM: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = PROGRAM.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let program = compiled(&folder, "sleepers", SLEEPERS, &[]);
        (folder, program)
    });
    path
}

/// A program that runs, and ends when this is dropped.
pub(crate) struct Program {
    pub(crate) child: Child,
    /// None once it has ended.
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Program {
    pub(crate) fn of(threads: usize) -> Self {
        Self::in_command(Command::new(sleepers()).arg(threads.to_string()))
    }

    pub(crate) fn in_command(command: &mut Command) -> Self {
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

    pub(crate) fn tell(&mut self, word: &str) {
        let input = self.input.as_mut().expect("it has not ended");
        writeln!(input, "{word}").expect("it listens");
        self.hear("done");
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn children(pid: u32) -> Vec<u32> {
    let all = fs::read_dir("/proc").expect("proc").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|child| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        parent == Some(pid)
    })
    .collect()
}

/// Whether a process has ended; somebody may yet have to wait for it. A signal takes a moment to end it.
fn has_ended(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with(['Z', 'X']))
}

/// Kills a daemon and its guardian, neither of which notices that the other has gone.
pub(crate) fn kill_both(daemon: u32, guardian: u32) {
    let signal = |pid: u32, signal| {
        // SAFETY: integers only; both are processes of a test that have not been waited for.
        unsafe { libc::kill(pid as libc::pid_t, signal) };
    };
    signal(daemon, libc::SIGSTOP);
    signal(guardian, libc::SIGKILL);
    wait_until("the guardian has ended", || has_ended(guardian));
    signal(daemon, libc::SIGKILL);
}

/// Where each thread of a process may run.
pub(crate) fn masks(pid: u32) -> Vec<String> {
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
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < DEADLINE, "waited in vain until {what}");
        std::thread::yield_now();
    }
}

/// The mask that everything begins with, or `None`, told, where there is but one core.
pub(crate) fn all_cores() -> Option<String> {
    let own = masks(std::process::id()).pop().expect("this thread");
    let several = own.contains([',', '-']);
    if !several {
        eprintln!("not tested: one core is no confinement");
    }
    several.then_some(own)
}

/// A daemon with a runtime folder of its own.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) folder: tempfile::TempDir,
}

/// `kilocore steer` with its journals in a folder of the test.
pub(crate) fn sched(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    command.arg("steer");
    kilocore_shipped::heed_signals(&mut command);
    keeps_journals(&mut command, folder);
    command
}

/// Lets a command keep its journals in a folder of the test, so that those of tests beside it stay apart.
pub(crate) fn keeps_journals(command: &mut Command, folder: &Path) {
    command.env("XDG_RUNTIME_DIR", folder);
    if is_root() {
        // Root's journals lie in one place, whatever the environment says.
        let private = private(folder);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&private).expect("room");
        let _ = fs::DirBuilder::new().mode(0o755).create("/run/kilocore");
        bind(command, &private, "/run/kilocore");
    }
}

/// Where journals lie of a command that keeps them in this folder.
pub(crate) fn private(folder: &Path) -> PathBuf {
    // SAFETY: takes no argument.
    folder.join(format!("kilocore-sched-{}", unsafe { libc::geteuid() }))
}

pub(crate) fn is_root() -> bool {
    // SAFETY: takes no argument.
    unsafe { libc::geteuid() == 0 }
}

/// Lets a command, and what it starts, see one folder in the place of another. Root may do so.
pub(crate) fn bind(command: &mut Command, folder: &Path, place: &str) {
    let text = |path: &[u8]| CString::new(path).expect("no zero in it");
    let (folder, place) = (text(folder.as_os_str().as_bytes()), text(place.as_bytes()));
    let mount = |from: &CStr, to: &CStr, flags| {
        // SAFETY: the texts end with a zero and live as long as the call, which takes no more.
        let done = unsafe {
            libc::mount(from.as_ptr(), to.as_ptr(), std::ptr::null(), flags, std::ptr::null())
        };
        if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec, makes system calls only.
    unsafe {
        command.pre_exec(move || {
            if libc::unshare(libc::CLONE_NEWNS) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            mount(c"none", c"/", libc::MS_REC | libc::MS_PRIVATE)?;
            mount(&folder, &place, libc::MS_BIND)
        });
    }
}

impl Daemon {
    /// Pins the threads of a process, one core each.
    pub(crate) fn pins(pid: u32) -> Self {
        Self::pins_by("affinity", pid)
    }

    /// The same, carried out in this way.
    pub(crate) fn pins_by(control: &str, pid: u32) -> Self {
        Self::pins_as(pid, |command| {
            command.args(["--control", control]);
        })
    }

    /// The same by a command that is changed in this way.
    pub(crate) fn pins_as(pid: u32, change: impl FnOnce(&mut Command)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = sched(folder.path());
        command.args(["--policy", "pinned", "--window", "20ms", "--metrics", "proc"]);
        change(&mut command);
        command.arg("--pid").arg(pid.to_string()).stderr(Stdio::piped());
        Self { child: command.spawn().expect("it starts"), folder }
    }

    pub(crate) fn signal(&self, signal: libc::c_int) {
        // SAFETY: integers only; the child has not been waited for.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }

    pub(crate) fn end(self) -> (Output, tempfile::TempDir) {
        (self.child.wait_with_output().expect("it ends"), self.folder)
    }
}

pub(crate) fn confined(pid: u32, all: &str) -> bool {
    let masks = masks(pid);
    !masks.is_empty() && masks.iter().all(|mask| mask != all)
}

pub(crate) fn restored(pid: u32, all: &str) -> bool {
    let masks = masks(pid);
    !masks.is_empty() && masks.iter().all(|mask| mask == all)
}

pub(crate) fn journals(folder: &Path) -> usize {
    let inside = fs::read_dir(folder).expect("it is there").flatten().map(|entry| entry.path());
    inside.filter_map(|path| fs::read_dir(path).ok()).flatten().count()
}
