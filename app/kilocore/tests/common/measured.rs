//! Measuring programs with the library as it ships.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

#[path = "compiled.rs"]
mod compiled;
pub(crate) use compiled::compiled;

/// Enough for anything here, on a machine that does much else.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);

/// A program that takes a lock a thousand times, is there long enough to be seen, says so and ends
/// with status 5.
pub(crate) const TAKES: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < 1000; i++) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
    usleep(500000);
    puts("was there");
    return 5;
}
"#;

/// `kilocore`, with the library as it ships and without anybody else's.
pub(crate) fn kilocore() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    command
        .env("KILOCORE_LIBRARY_DIR", kilocore_shipped::folder())
        .env_remove("LD_PRELOAD")
        .env_remove("TMPDIR")
        .stdin(Stdio::null());
    command
}

/// Kills what outlasts its value.
struct Bounded(Child);

impl Drop for Bounded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command to its end, and does something while it runs, given its process id; what it
/// prints goes through files, which children of it may hold open.
pub(crate) fn run_while(mut command: Command, meanwhile: impl FnOnce(i32)) -> Output {
    let what = format!("{command:?}");
    let [out, err] = [(); 2].map(|()| tempfile::NamedTempFile::new().expect("a file"));
    command.stdout(out.reopen().expect("a file")).stderr(err.reopen().expect("a file"));
    let mut child = Bounded(command.spawn().unwrap_or_else(|error| panic!("{what}: {error}")));
    meanwhile(child.0.id() as i32);
    let end = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.0.try_wait().expect("it is a child of this process") {
            break status;
        }
        assert!(Instant::now() < end, "not done after {LIMIT:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    };
    let read = |file: &tempfile::NamedTempFile| fs::read(file.path()).expect("just written");
    Output { status, stdout: read(&out), stderr: read(&err) }
}

/// Waits until something is so, while a program that was started works towards it.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < end, "still not: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What `kilocore record locks` did.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) status: Option<i32>,
    pub(crate) output: String,
    pub(crate) said: String,
    /// The profile, if one was written.
    pub(crate) profile: Option<Value>,
}

impl Measured {
    pub(crate) fn of(output: &Output, file: &Path) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let profile = fs::read(file).ok();
        Self {
            status: output.status.code(),
            output: text(&output.stdout),
            said: text(&output.stderr),
            profile: profile.map(|bytes| serde_json::from_slice(&bytes).expect("whole")),
        }
    }

    /// The profile's first run, which is that on all cores.
    #[track_caller]
    pub(crate) fn run(&self) -> &Value {
        &self.profile.as_ref().unwrap_or_else(|| panic!("no profile: {self:?}"))["runs"][0]
    }

    /// Why the processes that left no recording left none.
    #[track_caller]
    pub(crate) fn reasons(&self) -> Vec<String> {
        let all = self.run()["outside"]["unrecorded"].as_array().expect("a list").clone();
        all.iter().map(|one| one["why"].as_str().expect("text").to_owned()).collect()
    }

    /// How often all locks were taken.
    #[track_caller]
    pub(crate) fn taken(&self) -> u64 {
        let processes = self.run()["processes"].as_array().expect("a list");
        let locks = processes.iter().flat_map(|one| one["locks"].as_array().expect("a list"));
        locks.map(|lock| lock["acquisitions"].as_u64().expect("a number")).sum()
    }
}

/// Measures a program, by a command that was prepared for it.
pub(crate) fn measure(mut command: Command, program: &[&str]) -> Measured {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let file = folder.path().join("profile.json");
    command.args(["record", "locks", "--output"]).arg(&file).arg("--").args(program);
    Measured::of(&run_while(command, |_| ()), &file)
}
