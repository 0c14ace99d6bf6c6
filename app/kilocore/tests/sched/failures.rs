//! Every affinity is back, too, if the daemon itself fails.

use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::Duration;

use kilocore_sched_daemon::{self as daemon, Control, Linux, Meter, Metrics, Options};
use kilocore_sched_policy::PolicyName;

use crate::programs::{
    Daemon, Program, all_cores, confined, journals, masks, restored, wait_until,
};

/// A child of this test may write no more to any file.
fn fill_the_disk_of(pid: u32) {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit lives as long as the call, and nobody asks for the old one.
    let limited = unsafe {
        libc::prlimit(pid as libc::pid_t, libc::RLIMIT_FSIZE, &raw const none, std::ptr::null_mut())
    };
    assert_eq!(limited, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn affinities_are_back_after_the_journal_could_not_be_written() {
    let Some(all) = all_cores() else { return };
    let mut program = Program::of(4);
    let hear_of_errors = || {
        // SAFETY: integers only; a system call.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        Ok(())
    };
    let daemon = Daemon::pins_as(program.pid(), |command| {
        // SAFETY: makes one system call.
        unsafe { command.pre_exec(hear_of_errors) };
    });
    wait_until("all are confined", || confined(program.pid(), &all));
    fill_the_disk_of(daemon.child.id());
    // The daemon writes down where these have been born before it orders anything.
    for _ in 0..4 {
        program.tell("more");
    }
    let (output, folder) = daemon.end();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("File too large"), "{said}");
    assert!(restored(program.pid(), &all));
    assert_eq!(masks(program.pid()).len(), 8);
    assert_eq!(journals(folder.path()), 0);
}

#[test]
fn affinities_are_back_after_a_panic() {
    let Some(all) = all_cores() else { return };
    let program = Program::of(4);
    let folder = tempfile::tempdir().expect("a folder");
    let mut guardian = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    guardian.arg("steer-guardian").env("XDG_RUNTIME_DIR", folder.path());
    let options = Options {
        policy: PolicyName::Pinned,
        window: Duration::from_millis(20),
        control: Control::Affinity,
        dry_run: false,
        whole_system: false,
        adopts: false,
        recordings: None,
    };
    let meter = Meter::begin(Metrics::Proc, options.policy).expect("proc is there");
    let daemon = daemon::Daemon::new(&[program.pid()], options, meter, Box::new(Linux), guardian);
    let mut daemon = daemon.expect("it begins");
    let (pid, before) = (program.pid(), all.clone());
    daemon.watch(move |_| assert!(!confined(pid, &before), "they are confined"));
    let panicked = catch_unwind(AssertUnwindSafe(move || daemon.run(&|| false, &mut |_| {})));
    let why = panicked.expect_err("it panics once they are confined");
    assert_eq!(why.downcast_ref::<&str>(), Some(&"they are confined"));
    assert!(restored(program.pid(), &all));
}
