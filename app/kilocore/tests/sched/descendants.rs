//! What a program starts has its own mask at the end, also what has lost its parents; and nobody gets another.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::compiled::compiled;

use crate::programs::{Program, all_cores, confined, is_root, masks, restored, sched, wait_until};

/// A program whose threads start daemons and threads. `daemon` lets its first thread start a process that starts
/// a second one and ends, and `pinned` lets a thread that has chosen its first core create another. It says so
/// when that is done, and of a daemon its number.
const FAMILY: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *sleeps(void *nothing) { for (;;) pause(); return nothing; }
static int wanted[2], done[2];
static void *pins(void *nothing) {
    cpu_set_t all, own;
    char byte;
    pthread_t child;
    int core = 0;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&own);
    while (!CPU_ISSET(core, &all)) core++;
    CPU_SET(core, &own);
    if (sched_setaffinity(0, sizeof own, &own)) exit(3);
    while (write(done[1], "x", 1) == 1 && read(wanted[0], &byte, 1) == 1)
        if (pthread_create(&child, NULL, sleeps, NULL)) exit(4);
    return nothing;
}
int main(void) {
    char line[64], byte;
    pthread_t thread;
    int ends[2];
    pid_t grandchild;
    if (pipe(wanted) || pipe(done) || pipe(ends)) return 2;
    for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, sleeps, NULL);
    pthread_create(&thread, NULL, pins, NULL);
    read(done[0], &byte, 1);
    puts("ready"); fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (!strcmp(line, "daemon\n")) {
            pid_t child = fork();
            if (child == 0) {
                grandchild = fork();
                if (grandchild == 0) {
                    setsid();
                    close(0); close(1);
                    for (;;) pause();
                }
                write(ends[1], &grandchild, sizeof grandchild);
                _exit(0);
            }
            waitpid(child, NULL, 0);
            read(ends[0], &grandchild, sizeof grandchild);
            printf("%d\n", (int) grandchild);
        } else {
            write(wanted[1], "x", 1);
            read(done[0], &byte, 1);
        }
        puts("done"); fflush(stdout);
    }
    return 7;
}
"#;

fn family(folder: &Path) -> PathBuf {
    compiled(folder, "family", FAMILY, &["-w"])
}

/// A process that ends with the test.
struct Grandchild(u32);

impl Drop for Grandchild {
    fn drop(&mut self) {
        // SAFETY: integers only; a process that a program of this test has started and that never ends itself.
        unsafe { libc::kill(self.0 as libc::pid_t, libc::SIGKILL) };
    }
}

fn daemon_of(program: &mut Program) -> Grandchild {
    use std::io::{BufRead, Write};
    writeln!(program.input.as_mut().expect("it has not ended"), "daemon").expect("it listens");
    let mut line = String::new();
    program.output.read_line(&mut line).expect("text");
    let pid = line.trim_end().parse().expect("a number");
    line.clear();
    program.output.read_line(&mut line).expect("text");
    Grandchild(pid)
}

/// As which user the daemon and the program run.
#[derive(Clone, Copy, PartialEq)]
enum As {
    This,
    Nobody,
}

impl As {
    fn command(self, command: &mut Command) {
        if self == Self::Nobody {
            command.uid(65_534).gid(65_534).env_remove("TMPDIR");
        }
    }
}

/// Lets a family grow while it is steered, and looks at all of it at the end.
fn grows(user: As, started: bool) {
    let Some(all) = all_cores() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
    let (source, kilocore) = (family(folder.path()), folder.path().join("kilocore"));
    kilocore_shipped::copy_to_run(Path::new(env!("CARGO_BIN_EXE_kilocore")), &kilocore);
    let runtime = folder.path().join("runtime");
    fs::create_dir(&runtime).expect("room");
    let mut steering = if user == As::Nobody {
        chown(&runtime, Some(65_534), Some(65_534)).expect("root may");
        let mut command = Command::new(&kilocore);
        command.arg("steer").env("XDG_RUNTIME_DIR", &runtime);
        command
    } else {
        sched(&runtime)
    };
    user.command(&mut steering);
    steering.args(["--policy", "pinned", "--window", "20ms", "--metrics", "proc"]);
    let (mut program, daemon) = if started {
        steering.arg("--").arg(&source);
        (Program::in_command(steering.stderr(Stdio::inherit())), None)
    } else {
        let mut command = Command::new(&source);
        user.command(&mut command);
        let program = Program::in_command(&mut command);
        steering.arg("--pid").arg(program.pid().to_string()).stderr(Stdio::piped());
        (program, Some(steering.spawn().expect("it starts")))
    };
    let pid = match &daemon {
        Some(_) => program.pid(),
        None => {
            let name = |pid: &u32| {
                let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                name.trim_end() == "family"
            };
            crate::programs::children(program.pid()).into_iter().find(name).expect("it runs")
        }
    };
    wait_until("all are confined", || confined(pid, &all));
    let mut daemons = Vec::new();
    for _ in 0..10 {
        program.tell("pinned");
        daemons.push(daemon_of(&mut program));
        wait_until("the rest is confined", || {
            masks(pid).iter().filter(|mask| **mask == all).count() == 0
        });
    }
    let first = all.split([',', '-']).next().expect("a core").to_owned();
    let pinned_keep = |pid: u32| {
        let masks = masks(pid);
        (
            masks.iter().filter(|mask| **mask == all).count(),
            masks.iter().filter(|mask| **mask == first).count(),
        )
    };
    if let Some(mut daemon) = daemon {
        // SAFETY: integers only; the child has not been waited for.
        unsafe { libc::kill(daemon.id() as libc::pid_t, libc::SIGTERM) };
        let stderr = std::io::read_to_string(daemon.stderr.take().expect("a pipe")).expect("text");
        assert!(daemon.wait().expect("it ends").success(), "{stderr}");
        assert!(!stderr.contains("not known"), "{stderr}");
        assert_eq!(pinned_keep(pid), (4, 11), "who chose a core keeps it, and so do its children");
    } else {
        drop(program.input.take());
        assert_eq!(program.child.wait().expect("it ends").code(), Some(7));
    }
    for daemon in &daemons {
        assert!(restored(daemon.0, &all), "of the first thread: {:?}", masks(daemon.0));
    }
}

#[test]
fn descendants_of_a_program_that_runs_are_as_they_would_have_been() {
    grows(As::This, false);
}

#[test]
fn descendants_of_a_program_that_is_started_are_as_they_would_have_been() {
    grows(As::This, true);
}

#[test]
fn descendants_are_followed_without_any_rights() {
    if !is_root() {
        return;
    }
    let paranoid = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    if paranoid.trim().parse::<i32>().is_ok_and(|level| level <= 2) {
        grows(As::Nobody, false);
    } else {
        eprintln!("not tested, as this kernel lets users have no perf events: {paranoid}");
    }
    grows(As::Nobody, true);
}
