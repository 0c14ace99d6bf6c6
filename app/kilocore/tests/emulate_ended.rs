//! `kilocore emulate` that is told to end, or is killed, while the program does not listen.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::measured::{compiled, kilocore, run_while, wait_until};

/// The first thread waits for another one, which computes for ever. No signal reaches it in the emulation. It makes a
/// file when it begins.
const ENDLESS: &str = r#"
#include <fcntl.h>
#include <pthread.h>
static void *compute(void *unused) {
    for (;;) __asm__ volatile("");
    return unused;
}
int main(int argc, char **argv) {
    pthread_t made;
    if (argc != 2 || pthread_create(&made, NULL, compute, NULL)) return 2;
    if (open(argv[1], O_CREAT | O_WRONLY, 0600) < 0) return 3;
    return pthread_join(made, NULL);
}
"#;

/// Far more than the second that the program is given, and less than for ever.
const SOON: Duration = Duration::from_secs(60);

/// The processes that have this among the words of their command.
fn processes_of(word: &Path) -> Vec<i32> {
    let word = word.to_str().expect("plain").as_bytes();
    let folders = fs::read_dir("/proc").expect("it is there").filter_map(Result::ok);
    let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|&byte| byte == 0).any(|one| one == word)
    })
    .collect()
}

struct Endless {
    folder: TempDir,
}

impl Endless {
    fn new() -> Self {
        let folder = TempDir::new().expect("a folder of the test's own");
        compiled(&folder, "endless", ENDLESS, &[]);
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    /// The command that emulates it, twice at a time on two cores, with a report.
    fn command(&self) -> Command {
        let mut command = kilocore();
        command.env("KILOCORE_NO_CACHE", "1");
        command.args(["emulate", "--machine", "opteron-6344-4s", "--cores", "1,4", "--output"]);
        command.arg(self.path("report.json")).arg("--stacks").arg(self.path("stacks")).arg("--");
        command.arg(self.path("endless")).arg(self.path("began"));
        let heed = || {
            // SAFETY: async-signal-safe. Shells start what runs in the background with this signal ignored.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
            Ok(())
        };
        // SAFETY: it allocates nothing.
        unsafe { command.pre_exec(heed) };
        command
    }

    /// Runs a command that emulates it, and does something once it computes. Returns how it ended, and how long that took.
    fn ended_by(&self, command: Command, end: impl FnOnce(i32)) -> (Output, Duration) {
        let mut told = None;
        let output = run_while(command, |kilocore| {
            wait_until("the program computes", || self.path("began").exists());
            told = Some(Instant::now());
            end(kilocore);
        });
        (output, told.expect("it was told").elapsed())
    }

    /// Nothing is left of it: no process, and no file that was half-written.
    fn assert_is_gone(&self) {
        let began = self.path("began");
        wait_until("no process is left", || processes_of(&began).is_empty());
        assert!(!self.path("report.json").exists() && !self.path("stacks").exists());
    }
}

fn kill(pid: i32, signal: i32) {
    // SAFETY: integers only; the process is a child that nobody has waited for.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

#[test]
fn an_emulation_that_does_not_listen_ends_when_kilocore_is_told_to() {
    let endless = Endless::new();
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let _ = fs::remove_file(endless.path("began"));
        let (output, took) = endless.ended_by(endless.command(), |kilocore| kill(kilocore, signal));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(128 + signal), "{said}");
        assert!(said.contains("interrupted") && output.stdout.is_empty(), "{said}");
        assert!(took < SOON, "{took:?}");
        endless.assert_is_gone();
    }
}

#[test]
fn an_emulation_does_not_outlast_kilocore() {
    let endless = Endless::new();
    let (output, _) = endless.ended_by(endless.command(), |kilocore| kill(kilocore, libc::SIGKILL));
    assert_eq!(output.status.signal(), Some(libc::SIGKILL));
    endless.assert_is_gone();
}

/// A terminal: its own side, and the path of the other one.
fn terminal() -> (File, CString) {
    // SAFETY: integers only.
    let ours = unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC) };
    assert!(ours >= 0, "{}", std::io::Error::last_os_error());
    let mut name = [0u8; 64];
    // SAFETY: the descriptor of a terminal, and room for its name.
    let named = unsafe {
        libc::grantpt(ours) == 0
            && libc::unlockpt(ours) == 0
            && libc::ptsname_r(ours, name.as_mut_ptr().cast(), name.len()) == 0
    };
    assert!(named, "{}", std::io::Error::last_os_error());
    let name = std::ffi::CStr::from_bytes_until_nul(&name).expect("a name").to_owned();
    // SAFETY: the descriptor was just made and belongs to nobody else.
    (File::from(unsafe { OwnedFd::from_raw_fd(ours) }), name)
}

#[test]
fn the_first_ctrl_c_ends_an_emulation() {
    let endless = Endless::new();
    let (mut ours, theirs) = terminal();
    let mut command = endless.command();
    let attach = move || {
        // SAFETY: async-signal-safe calls. The terminal that a session's first process opens becomes the session's.
        let is_attached =
            unsafe { libc::setsid() >= 0 && libc::open(theirs.as_ptr(), libc::O_RDWR) >= 0 };
        if is_attached { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: async-signal-safe, and allocates nothing.
    unsafe { command.pre_exec(attach) };
    let (output, took) = endless.ended_by(command, |_| {
        ours.write_all(b"\x03").expect("it takes a key");
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(128 + libc::SIGINT), "{said}");
    assert!(took < SOON, "{took:?}");
    endless.assert_is_gone();
}
