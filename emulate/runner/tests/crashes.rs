//! Programs with several threads that a signal ends.

use std::os::unix::process::ExitStatusExt;

use kilocore_emulation::EmulateError;

use crate::support::{on, program, try_on};

const SEGV: i32 = 11;
const TERM: i32 = 15;

/// What a thread does, and the signal that ends the program then.
const CRASHES: [(&str, i32); 7] = [
    ("segv", SEGV),
    ("abort", 6),
    ("fpe", 8),
    ("ill", 4),
    ("bus", 7),
    ("stack", SEGV),
    ("born", SEGV),
];

/// Lets a thread crash while the others do something, and looks whether the program ends by that, and by nothing else.
fn assert_ends(how: &str, others: &str, signal: i32) {
    let folder = tempfile::tempdir().expect("there is room");
    let said = folder.path().join("said");
    let arguments = [how, others, said.to_str().expect("plain")];
    let error = try_on(4, &program("crashes", &[]), &arguments).expect_err("it crashes");
    let EmulateError::NoReport { status } = &error else { panic!("{how} {others}: {error}") };
    assert_eq!(status.signal(), Some(signal), "{how} {others}");
    assert!(!said.exists(), "{how} {others}: a thread that waits goes on");
}

#[test]
fn a_crash_ends_the_program_while_other_threads_wait_for_their_turn() {
    for (how, signal) in CRASHES {
        assert_ends(how, "compute", signal);
    }
}

#[test]
fn threads_that_wait_in_calls_do_not_go_on_when_another_one_crashes() {
    for others in ["mixed", "futex", "nap", "poll"] {
        for how in ["segv", "abort"] {
            assert_ends(how, others, if how == "segv" { SEGV } else { 6 });
        }
    }
}

#[test]
fn a_signal_ends_the_program_whatever_the_thread_does_that_gets_it() {
    for others in ["compute", "futex", "nap", "poll"] {
        for how in ["kill", "tgkill"] {
            assert_ends(how, others, TERM);
        }
    }
}

#[test]
fn signals_that_are_handled_or_blocked_or_ignored_end_nothing() {
    for how in ["handled", "blocked", "ignored"] {
        on(4, &program("crashes", &[]), &[how, "compute"]);
    }
}
