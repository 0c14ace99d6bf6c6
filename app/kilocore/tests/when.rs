//! What of a program's run counts, and that a profile is written however the run ends.

#[path = "common/measured.rs"]
#[allow(dead_code)] // each test file uses its part
mod measured;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use measured::{Measured, compiled, kilocore, run_while, wait_until};
use tempfile::TempDir;

/// A program that takes one lock 1,000 times, says so in a file, and waits for another file; then
/// takes another lock 100 times, says so, and so on until a file is called `end`. A signal that asks
/// it to end is obeyed by going on to the end.
const STEPS: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static pthread_mutex_t locks[3];
static volatile sig_atomic_t asked;
static void ask(int signal) { asked = 1; }
static void said(const char *name) { fclose(fopen(name, "w")); }
static void wait_for(const char *name) {
    while (!asked && access(name, F_OK) != 0) usleep(1000);
}
int main(int count, char **words) {
    const int times[3] = {1000, 100, 10};
    const char *done[3] = {"done-0", "done-1", "done-2"};
    const char *go[3] = {"go-0", "go-1", "go-2"};
    if (chdir(words[1]) != 0) return 9;
    signal(SIGTERM, ask);
    signal(SIGINT, ask);
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < times[step]; i++) {
            pthread_mutex_lock(&locks[step]);
            pthread_mutex_unlock(&locks[step]);
        }
        said(done[step]);
        wait_for(go[step]);
    }
    return 0;
}
"#;

/// The program of steps, in a folder of its own.
struct Steps {
    folder: TempDir,
    program: PathBuf,
}

impl Steps {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder of the test's own");
        let program = compiled(&folder, "steps", STEPS, &[]);
        Self { folder, program }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn go(&self, step: u32) {
        fs::write(self.file(&format!("go-{step}")), "").expect("a folder of the test's own");
    }

    fn wait_done(&self, step: u32) {
        wait_until("a step is done", || self.file(&format!("done-{step}")).exists());
    }

    fn profile(&self) -> PathBuf {
        self.file("profile.json")
    }

    /// The command that measures it, with these options, in front of which other words may stand.
    fn command(&self, before: &[&str], options: &[&str]) -> Command {
        let plain = kilocore();
        let mut words: Vec<_> = before.iter().map(|word| (*word).into()).collect();
        words.push(plain.get_program().to_owned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(std::process::Stdio::null());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.args(["record", "locks"]).args(options).arg("--output").arg(self.profile());
        command.arg(&self.program).arg(self.folder.path());
        // Recordings go where they can be looked for.
        fs::create_dir_all(self.file("tmp")).expect("a folder of the test's own");
        command.env("TMPDIR", self.file("tmp"));
        kilocore_shipped::heed_signals(&mut command);
        command
    }

    fn run(&self, command: Command, meanwhile: impl FnOnce(i32)) -> Measured {
        Measured::of(&run_while(command, meanwhile), &self.profile())
    }

    /// Asserts that nothing is left of the recordings.
    #[track_caller]
    fn assert_tidy(&self) {
        let left: Vec<_> = fs::read_dir(self.file("tmp")).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn kill(pid: i32, signal: libc::c_int) {
    // SAFETY: a signal to a child that is not waited for yet.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

#[test]
fn signals_begin_and_end_what_counts() {
    let steps = Steps::new();
    let measured = steps.run(steps.command(&[], &[]), |kilocore| {
        steps.wait_done(0);
        kill(kilocore, libc::SIGUSR1);
        // The signal is acted upon before the next step: recordings are read at once.
        std::thread::sleep(std::time::Duration::from_millis(500));
        steps.go(0);
        steps.wait_done(1);
        kill(kilocore, libc::SIGUSR2);
        std::thread::sleep(std::time::Duration::from_millis(500));
        steps.go(1);
        steps.wait_done(2);
        steps.go(2);
    });
    assert_eq!(measured.status, Some(0), "{measured:?}");
    assert_eq!(measured.taken(), 100, "{measured:?}");
    steps.assert_tidy();
}

#[test]
fn a_delay_leaves_the_beginning_out() {
    let steps = Steps::new();
    let began = Instant::now();
    let measured = steps.run(steps.command(&[], &["--delay", "2"]), |_| {
        steps.wait_done(0);
        // Longer than the delay by far; on a machine so slow that this is too short, the test fails.
        std::thread::sleep(std::time::Duration::from_secs(4));
        [0, 1, 2].into_iter().for_each(|step| steps.go(step));
    });
    assert_eq!((measured.status, measured.taken()), (Some(0), 110), "{measured:?}");
    // How late the recorder notices, on a busy host, is not known.
    let wall = measured.run()["wall_ns"].as_f64().expect("a number");
    let whole = began.elapsed().as_nanos() as f64;
    assert!(wall > 0.0 && wall <= whole - 2.0e9, "{wall} of {whole}");
}

#[test]
fn a_program_that_ends_before_the_delay_is_over_is_told_of() {
    let steps = Steps::new();
    [0, 1, 2].into_iter().for_each(|step| steps.go(step));
    let measured = steps.run(steps.command(&[], &["--delay", "1h"]), |_| ());
    assert_eq!((measured.status, measured.taken()), (Some(2), 0), "{measured:?}");
    assert!(measured.said.contains("begin earlier"), "{measured:?}");
}

#[test]
fn a_duration_ends_the_program_and_its_end_does_not_count() {
    let steps = Steps::new();
    // Nobody lets it go on: only the signal does, and what it does then is too late to count.
    let measured = steps.run(steps.command(&[], &["--duration", "3"]), |_| ());
    assert_eq!((measured.status, measured.taken()), (Some(0), 1_000), "{measured:?}");
    assert!(measured.said.contains("the time was up"), "{measured:?}");
    assert!(steps.file("done-2").exists());
}

#[test]
fn under_timeout_the_profile_is_written() {
    for signal in ["TERM", "INT"] {
        let steps = Steps::new();
        let signal = format!("--signal={signal}");
        let measured = steps.run(steps.command(&["timeout", &signal, "3"], &[]), |_| ());
        assert_eq!(measured.taken(), 1_110, "{measured:?}");
        steps.assert_tidy();
    }
}

#[test]
fn signals_during_the_write_out_are_survived() {
    let steps = Steps::new();
    let measured = steps.run(steps.command(&[], &[]), |kilocore| {
        steps.wait_done(0);
        // From now on until there is no kilocore any more: before, during and after the program's
        // end and the write-out.
        for signal in [libc::SIGINT, libc::SIGTERM].into_iter().cycle() {
            // SAFETY: a child that is not waited for yet, which may have ended.
            unsafe { libc::kill(kilocore, signal) };
            std::thread::sleep(std::time::Duration::from_millis(1));
            if steps.profile().exists() {
                break;
            }
            let state = fs::read_to_string(format!("/proc/{kilocore}/stat")).unwrap_or_default();
            assert!(!state.contains(") Z "), "it ended without a profile");
        }
    });
    assert_eq!(measured.taken(), 1_110, "{measured:?}");
    steps.assert_tidy();
}

#[test]
fn a_crash_is_told() {
    let measured = measured::measure(kilocore(), &["sh", "-c", "kill -SEGV $$"]);
    assert_eq!(measured.status, Some(139), "{measured:?}");
    assert!(measured.said.contains("SIGSEGV"), "{measured:?}");
}

#[test]
fn times_that_are_none_are_refused() {
    for words in [["--duration", "0"], ["--delay", "soon"], ["--duration", "-1"]] {
        let output = kilocore().args(["record", "locks"]).args(words).arg("true").output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
    }
}
