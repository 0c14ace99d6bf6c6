//! A virtual machine that runs, and programs that are none. What needs a JDK is tested where there
//! is one.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use kilocore_lock_watcher::java_threads::{
    AttachError, Dump, HeldKind, Synchronizers, is_hotspot, threads,
};

use crate::planted;

/// Returns whether a program is installed.
fn is_installed(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|directory| directory.join(program).exists())
    })
}

/// A program that ends with its input, and at the latest when it is dropped.
struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, input, output }
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it can be read");
        line
    }

    /// Ends its input. Returns the rest of its output, and whether it ended well.
    fn end(mut self) -> (String, bool) {
        drop(self.input.take());
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("it can be read");
        (rest, self.child.wait().expect("it is this process's child").success())
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: the call takes two numbers; the process is a child that is not waited for yet.
        let result = unsafe { libc::kill(self.pid().cast_signed(), signal) };
        assert_eq!(result, 0);
    }

    /// Stops it, and returns when it has stopped.
    fn stop(&self) {
        self.signal(libc::SIGSTOP);
        let mut status = 0;
        // SAFETY: the status is ours to be written, and the child is not waited for yet.
        let pid =
            unsafe { libc::waitpid(self.pid().cast_signed(), &raw mut status, libc::WUNTRACED) };
        assert!(pid > 0 && libc::WIFSTOPPED(status));
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A machine that was killed has not tidied up.
        let _ = std::fs::remove_file(file("java", self));
    }
}

/// Starts the planted program, and returns when all its threads wait. Returns `None` without a JDK.
fn planted(options: &[&str]) -> Option<Program> {
    if !is_installed("javac") {
        eprintln!("not tested: there is no JDK here (default-jdk-headless)");
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java_threads/Planted.java");
    let mut program = Program::start(Command::new("java").args(options).arg(source));
    assert_eq!(program.line(), "ready\n");
    Some(program)
}

fn file(name: &str, program: &Program) -> PathBuf {
    format!("/tmp/.{name}_pid{}", program.pid()).into()
}

fn ask(program: &Program) -> Result<Dump, AttachError> {
    threads(program.pid(), Synchronizers::Listed)
}

#[test]
fn a_running_machine_says_where_its_threads_wait() {
    let Some(program) = planted(&[]) else { return };
    assert!(is_hotspot(program.pid()));

    // Where it cannot answer, nothing is left for it to do when it can again.
    program.stop();
    assert!(matches!(ask(&program), Err(AttachError::Stopped(_))));
    program.signal(libc::SIGCONT);
    assert!(!file("attach", &program).exists() && !file("java", &program).exists());

    // Who listens in its place is not asked.
    let listener = UnixListener::bind(file("java", &program)).expect("there is none yet");
    let error = ask(&program).expect_err("this process listens");
    let own = std::process::id();
    assert!(matches!(error, AttachError::SomebodyElse { by, .. } if by == own), "{error}");

    // The socket stays behind, as that of a process that was killed.
    drop(listener);
    let dump = ask(&program).expect("it answers");
    planted::check(&dump);
    assert!(!file("attach", &program).exists(), "the file is removed");
    let task = |tid| Path::new(&format!("/proc/{}/task/{tid}", program.pid())).exists();
    let blocked =
        |thread: &&kilocore_lock_watcher::java_threads::JavaThread| thread.waits_for.is_some();
    assert!(dump.threads.iter().filter(blocked).all(|thread| thread.tid.is_some_and(task)));

    // It listens now, and looks through no heap if nobody asks for it.
    let dump = threads(program.pid(), Synchronizers::LeftOut).expect("it answers");
    let lock = planted::check_waits(&dump);
    assert_eq!(dump.holder(lock), None);
    let held = dump.threads.iter().flat_map(|thread| &thread.holds);
    assert!(held.clone().count() > 0 && held.clone().all(|held| held.kind == HeldKind::Monitor));

    let (output, well) = program.end();
    assert!(well);
    assert!(!output.contains("Full thread dump"), "it was asked, and not told to print: {output}");
}

#[test]
fn a_machine_that_does_not_listen_is_left_alone() {
    for options in [
        &["-XX:+DisableAttachMechanism"][..],
        // Its counters are not in a file.
        &["-XX:+DisableAttachMechanism", "-XX:-UsePerfData"],
    ] {
        let Some(program) = planted(options) else { return };
        assert!(matches!(ask(&program), Err(AttachError::Disabled(_))));
        let (output, well) = program.end();
        assert!(well);
        assert!(!output.contains("Full thread dump"), "{output}");
    }
}

#[test]
fn a_machine_that_a_signal_would_end_is_sent_none() {
    let Some(program) = planted(&["-Xrs"]) else { return };
    planted::check(&ask(&program).expect("it listens from its start"));
    std::fs::remove_file(file("java", &program)).expect("it is there");
    assert!(matches!(ask(&program), Err(AttachError::NotCaught(_))));
    assert!(!file("attach", &program).exists());
    assert!(program.end().1, "it ended well");
}

#[test]
fn what_is_no_java_machine_is_sent_no_signal() {
    let mut program = Program::start(&mut Command::new("cat"));
    assert!(!is_hotspot(program.pid()));
    let error = ask(&program).expect_err("it is no virtual machine");
    assert!(matches!(error, AttachError::NotHotSpot(pid) if pid == program.pid()), "{error}");
    // With a deadly signal on its way, it would not come as far as to answer.
    program.input.as_mut().expect("it is piped").write_all(b"alive\n").expect("it reads");
    assert_eq!(program.line(), "alive\n");
    assert!(program.end().1);
}

#[test]
fn a_process_that_is_not_there_is_said_not_to_be() {
    let error = threads(u32::MAX >> 1, Synchronizers::LeftOut).expect_err("there is none");
    assert!(matches!(error, AttachError::NoProcess(_)), "{error}");
    assert!(!is_hotspot(u32::MAX >> 1));
}
