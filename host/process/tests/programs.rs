//! Runs small programs and looks at what became of their output, cores and status.

use std::ffi::{CString, OsString};
use std::fs;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use kilocore_process::{Input, NotStarted, Observer, Output, Start, Stream, allowed_cores, run};
use proptest::prelude::*;

fn words(command: &[&str]) -> Vec<OsString> {
    command.iter().map(OsString::from).collect()
}

/// Remembers all that it saw.
#[derive(Default)]
struct Memory {
    output: Mutex<Vec<u8>>,
    error: Mutex<Vec<u8>>,
}

impl Observer for Memory {
    fn saw(&self, stream: Stream, bytes: &[u8]) {
        let seen = match stream {
            Stream::Output => &self.output,
            Stream::Error => &self.error,
        };
        seen.lock().unwrap().extend_from_slice(bytes);
    }
}

/// Runs a shell script, its output going to files; what the files then hold.
fn script(script: &str, start: Start<'_>) -> (kilocore_process::End, Vec<u8>, Vec<u8>) {
    let command = words(&["sh", "-c", script]);
    let mut files = [tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap()];
    let mut start: Start<'_> = start;
    start.command = &command;
    start.output = Output::To { stdout: files[0].as_fd(), stderr: files[1].as_fd() };
    let end = run(start).expect("sh is there");
    let [stdout, stderr] = files.each_mut().map(|file| {
        let mut bytes = Vec::new();
        io::Seek::rewind(file).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        bytes
    });
    (end, stdout, stderr)
}

#[test]
fn the_end_is_told_as_it_was() {
    let (end, _, _) = script("exit 7", Start::default());
    assert_eq!((end.status.code(), end.interrupted), (Some(7), false));
    assert!(!end.elapsed.is_zero());
    let (end, _, _) = script("kill -KILL $$", Start::default());
    assert_eq!(end.status.signal(), Some(libc::SIGKILL));
}

#[test]
fn signals_are_passed_on() {
    let signals = "trap 'exit 3' TERM; kill -TERM $PPID; while :; do :; done";
    let memory = Memory::default();
    for observer in [None, Some(&memory as &dyn Observer)] {
        let (end, _, _) = script(signals, Start { observer, ..Start::default() });
        assert_eq!((end.status.code(), end.interrupted), (Some(3), true));
    }
}

#[test]
fn a_program_that_does_not_listen_is_killed_if_it_is_to_end_for_certain() {
    let deaf = "trap '' TERM; kill -TERM $PPID; while :; do :; done";
    let memory = Memory::default();
    for observer in [None, Some(&memory as &dyn Observer)] {
        let start = Start { observer, ends_for_certain: true, ..Start::default() };
        let (end, _, _) = script(deaf, start);
        assert_eq!((end.status.signal(), end.interrupted), (Some(libc::SIGKILL), true));
        assert_eq!(end.told_by, Some(libc::SIGTERM));
    }
    // One that listens is left to end as it likes.
    let listens = "trap 'exit 3' TERM; kill -TERM $PPID; while :; do :; done";
    let (end, _, _) = script(listens, Start { ends_for_certain: true, ..Start::default() });
    assert_eq!((end.status.code(), end.told_by), (Some(3), Some(libc::SIGTERM)));
}

#[test]
fn processor_time_is_that_of_the_program_and_its_children() {
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let (end, _, _) = script(&format!("sh -c '{busy}'; {busy}"), Start::default());
    assert!(!end.user.is_zero());
}

#[test]
fn environment_and_cores_are_the_programs() {
    let cores = allowed_cores();
    let last = &cores[cores.len() - 1..];
    let start = Start {
        environment: vec![("KILOCORE_TEST".into(), "a b".into())],
        cores: Some(last),
        input: Input::Empty,
        ..Start::default()
    };
    let (_, stdout, _) =
        script("cat; echo $KILOCORE_TEST; grep Cpus_allowed_list /proc/self/status", start);
    let expected = format!("a b\nCpus_allowed_list:\t{}\n", last[0].0);
    assert_eq!(String::from_utf8_lossy(&stdout), expected);
    assert_eq!(allowed_cores(), cores, "this process keeps its own");
}

#[test]
fn a_program_that_is_not_there_is_refused() {
    let command = words(&["/nowhere/at/all"]);
    for before_exec in [None, Some(Box::new(|_| ControlFlow::Continue(())) as _)] {
        let refused = run(Start { command: &command, before_exec, ..Start::default() });
        let Err(NotStarted::Refused(error)) = refused else { panic!("{refused:?}") };
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
    assert!(matches!(run(Start::default()), Err(NotStarted::Refused(_))));
}

#[test]
fn cores_that_are_not_there_are_refused_before_anybody_is_told_of_the_process() {
    let command = words(&["true"]);
    let hook = Box::new(|_| panic!("there is no process to attach to"));
    let start = Start {
        command: &command,
        cores: Some(&[kilocore_process::CpuId(1023)]),
        before_exec: Some(hook),
        ..Start::default()
    };
    assert!(matches!(run(start), Err(NotStarted::Refused(_))));
}

#[test]
fn before_its_execution_the_process_is_there_and_waits() {
    let mut seen = None;
    let hook = |pid: libc::pid_t| {
        let ours = fs::read_link("/proc/self/exe").unwrap();
        seen = Some((pid, fs::read_link(format!("/proc/{pid}/exe")).unwrap() == ours));
        ControlFlow::Continue(())
    };
    let start = Start { before_exec: Some(Box::new(hook)), ..Start::default() };
    let (end, stdout, _) = script("echo $$", start);
    let (pid, not_yet) = seen.expect("it was called");
    assert!(not_yet && end.status.success());
    assert_eq!(String::from_utf8_lossy(&stdout).trim(), pid.to_string());
}

#[test]
fn a_process_held_back_does_nothing_and_is_gone() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace");
    let command = words(&["touch", trace.to_str().unwrap()]);
    let mut held = 0;
    let hook = |pid| {
        held = pid;
        ControlFlow::Break(())
    };
    let start = Start { command: &command, before_exec: Some(Box::new(hook)), ..Start::default() };
    assert!(matches!(run(start), Err(NotStarted::HeldBack)));
    assert!(held > 0 && !Path::new(&format!("/proc/{held}")).exists());
    assert!(!trace.exists());
}

#[test]
fn a_process_killed_while_it_waits_is_no_program_that_ran() {
    let command = words(&["true"]);
    let hook = |pid| {
        // SAFETY: the process is a child that is not waited for yet.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        ControlFlow::Continue(())
    };
    let start = Start { command: &command, before_exec: Some(Box::new(hook)), ..Start::default() };
    let refused = run(start);
    assert!(matches!(refused, Err(NotStarted::Refused(_))), "{refused:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn observed_output_arrives_byte_for_byte(
        output in proptest::collection::vec(any::<u8>(), 0..200_000),
        error in proptest::collection::vec(any::<u8>(), 0..10_000),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let names = ["output", "error"].map(|name| directory.path().join(name));
        fs::write(&names[0], &output).unwrap();
        fs::write(&names[1], &error).unwrap();
        let memory = Memory::default();
        let text = format!("cat {} & cat {} >&2; wait", names[0].display(), names[1].display());
        let (end, stdout, stderr) =
            script(&text, Start { observer: Some(&memory), ..Start::default() });
        prop_assert!(end.status.success() && end.output_failure.is_none());
        prop_assert!(stdout == output && stderr == error);
        prop_assert!(*memory.output.lock().unwrap() == output);
        prop_assert!(*memory.error.lock().unwrap() == error);
    }
}

#[test]
fn a_stream_that_nobody_reads_does_not_hold_up_the_other() {
    let (mut stdout, to_stdout) = io::pipe().unwrap();
    let (mut stderr, to_stderr) = io::pipe().unwrap();
    let reader = thread::spawn(move || {
        let mut line = [0; 4];
        stderr.read_exact(&mut line).unwrap();
        let mut rest = Vec::new();
        stdout.read_to_end(&mut rest).unwrap();
        (line, rest.len())
    });
    let command = words(&["sh", "-c", "head -c 400000 /dev/zero & echo err >&2; wait"]);
    let memory = Memory::default();
    let end = run(Start {
        command: &command,
        output: Output::To { stdout: to_stdout.as_fd(), stderr: to_stderr.as_fd() },
        observer: Some(&memory),
        ..Start::default()
    });
    drop((to_stdout, to_stderr));
    assert!(end.unwrap().status.success());
    assert_eq!(reader.join().unwrap(), (*b"err\n", 400_000));
}

#[test]
fn what_a_child_writes_after_the_programs_end_arrives() {
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    let name = CString::new(fifo.to_str().unwrap()).unwrap();
    // SAFETY: a valid C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let (mut output, to_output) = io::pipe().unwrap();
    let text = format!("(read line < {}; echo $line) & echo early", fifo.display());
    let command = words(&["sh", "-c", &text]);
    let memory = Memory::default();
    let end = run(Start {
        command: &command,
        output: Output::To { stdout: to_output.as_fd(), stderr: to_output.as_fd() },
        observer: Some(&memory),
        ..Start::default()
    });
    drop(to_output);
    assert!(end.unwrap().status.success());
    assert_eq!(*memory.output.lock().unwrap(), b"early\n");
    fs::OpenOptions::new().write(true).open(&fifo).unwrap().write_all(b"late\n").unwrap();
    let mut all = String::new();
    output.read_to_string(&mut all).unwrap();
    assert_eq!(all, "early\nlate\n");
}

#[test]
fn a_program_whose_reader_goes_away_is_told_by_its_pipe() {
    let (output, to_output) = io::pipe().unwrap();
    drop(output);
    let command = words(&["yes"]);
    let memory = Memory::default();
    let end = run(Start {
        command: &command,
        output: Output::To { stdout: to_output.as_fd(), stderr: to_output.as_fd() },
        observer: Some(&memory),
        ..Start::default()
    })
    .unwrap();
    assert_eq!(end.status.signal(), Some(libc::SIGPIPE));
    assert!(end.output_failure.is_none());
}

#[test]
fn a_disk_that_is_full_is_reported() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let command = words(&["echo", "word"]);
    let memory = Memory::default();
    let end = run(Start {
        command: &command,
        output: Output::To { stdout: full.as_fd(), stderr: full.as_fd() },
        observer: Some(&memory),
        ..Start::default()
    })
    .unwrap();
    let failure = end.output_failure.expect("nothing can be written there");
    assert_eq!(failure.raw_os_error(), Some(libc::ENOSPC));
    assert_eq!(*memory.output.lock().unwrap(), b"word\n");
}

#[test]
fn whoever_loses_its_parent_is_adopted_and_waited_for() {
    // All of a process's children are waited for.
    alone("an_orphans_parent_is_the_one_who_adopts", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn an_orphans_parent_is_the_one_who_adopts() {
    if !is_alone() {
        return;
    }
    // The orphan says who its parent is once its first one is gone, and ends; the program then
    // waits until nothing is left of it.
    let text = "(sh -c 'until [ -e go ]; do :; done; read -r _ _ _ parent _ < /proc/$$/stat; \
                echo $$ $parent > part; mv part orphan' &); : > go; \
                until [ -e orphan ]; do :; done; read -r pid parent < orphan; \
                while [ -d /proc/$pid ]; do :; done; echo $pid $parent";
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let start = Start { adopt_orphans: true, ..Start::default() };
    let (end, stdout, _) = script(text, start);
    assert!(end.status.success());
    let said = String::from_utf8(stdout).unwrap();
    let parent = said.split_whitespace().nth(1).unwrap();
    assert_eq!(parent, std::process::id().to_string(), "{said}");
}

#[test]
fn the_program_is_told_of_as_soon_as_it_is_executed() {
    let mut seen = None;
    let on_start = |pid: libc::pid_t| seen = Some(pid);
    let start = Start { on_start: Some(Box::new(on_start)), ..Start::default() };
    let (_, stdout, _) = script("echo $$", start);
    let pid = seen.expect("it was called");
    assert_eq!(String::from_utf8_lossy(&stdout).trim(), pid.to_string());
}

/// In the environment of a test that runs alone in its process.
const ALONE: &str = "KILOCORE_TEST_ALONE";

/// Whether this test has its process to itself; the others are run so by another test.
fn is_alone() -> bool {
    std::env::var_os(ALONE).is_some()
}

/// Runs a test of this file alone in a process that is started with some signals ignored.
fn alone(name: &str, signals: &[libc::c_int]) {
    use std::os::unix::process::CommandExt;
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(ALONE, "1");
    let signals = signals.to_vec();
    let ignore = move || {
        for signal in &signals {
            // SAFETY: no handler is involved.
            unsafe { libc::signal(*signal, libc::SIG_IGN) };
        }
        Ok(())
    };
    kilocore_shipped::heed_signals(&mut command);
    // SAFETY: async-signal-safe, and allocates nothing.
    unsafe { command.pre_exec(ignore) };
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

const IGNORABLE: [libc::c_int; 7] = [
    libc::SIGPIPE,
    libc::SIGXFSZ,
    libc::SIGCHLD,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
];

/// The signals that a program ignores when it is started, as bits.
fn ignored_by_a_program() -> u64 {
    kilocore_process::survive_full_files();
    // No shell: some ask for their children's ends.
    let command = words(&["grep", "SigIgn", "/proc/self/status"]);
    let mut file = tempfile::tempfile().unwrap();
    let output = Output::To { stdout: file.as_fd(), stderr: file.as_fd() };
    run(Start { command: &command, output, ..Start::default() }).unwrap();
    io::Seek::rewind(&mut file).unwrap();
    let mut said = String::new();
    file.read_to_string(&mut said).unwrap();
    u64::from_str_radix(said.split_whitespace().nth(1).unwrap(), 16).unwrap()
}

#[test]
fn what_this_process_was_started_with_ignored_the_program_ignores() {
    alone("a_program_ignores_all_that_was_ignored", &IGNORABLE);
    alone("a_program_ignores_nothing_by_itself", &[]);
}

#[test]
#[ignore = "run by another test, with signals ignored"]
fn a_program_ignores_all_that_was_ignored() {
    if !is_alone() {
        return;
    }
    let ignored = ignored_by_a_program();
    for signal in IGNORABLE {
        assert!(ignored >> (signal - 1) & 1 == 1, "signal {signal}: {ignored:x}");
    }
}

#[test]
#[ignore = "run by another test, without signals ignored"]
fn a_program_ignores_nothing_by_itself() {
    if !is_alone() {
        return;
    }
    let ignored = ignored_by_a_program();
    for signal in [libc::SIGPIPE, libc::SIGXFSZ, libc::SIGCHLD] {
        assert!(ignored >> (signal - 1) & 1 == 0, "signal {signal}: {ignored:x}");
    }
}

#[test]
fn held_signals_end_nothing_and_reach_the_program_that_is_started_next() {
    alone("signals_are_held", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn signals_are_held() {
    if !is_alone() {
        return;
    }
    let held = kilocore_process::Held::begin();
    assert!(!held.came());
    let raise = || {
        for signal in [libc::SIGTERM, libc::SIGINT] {
            // SAFETY: this process has handlers for them.
            unsafe { libc::raise(signal) };
        }
    };
    raise();
    assert!(held.came());
    let (end, _, _) = script("while :; do :; done", Start::default());
    assert_eq!((end.status.signal(), end.interrupted), (Some(libc::SIGTERM), true));
    assert!(!held.came(), "the program was given it");
    let (end, _, _) = script("exit 4", Start::default());
    assert_eq!((end.status.code(), end.interrupted), (Some(4), false));
    raise();
}
