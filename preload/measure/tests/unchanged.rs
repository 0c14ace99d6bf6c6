//! Runs programs with and without the library. The programs must not see a difference.

use crate::common;

use std::path::Path;
use std::process::{Command, Output};

use kilocore_lock_profile::Lock;

use common::{library, profile_of, program};

/// Returns what a program prints without the library and with it.
fn with_and_without(program: &Path, arguments: &[&str]) -> (Output, Output) {
    let directory = tempfile::tempdir().expect("there is room");
    let plain = Command::new(program).args(arguments).output().expect("it runs");
    let recorded = Command::new(program)
        .args(arguments)
        .env("LD_PRELOAD", library())
        .env("KILOCORE_MEASURE_DIR", directory.path())
        .output()
        .expect("it runs under the library");
    (plain, recorded)
}

#[test]
fn every_call_on_every_kind_of_lock_in_every_state_gives_the_same() {
    let (plain, recorded) = with_and_without(&program("returns"), &[]);
    assert!(plain.status.success(), "{plain:?}");
    let lines = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (plain_lines, recorded_lines) = (lines(&plain), lines(&recorded));
    let mut kind = "";
    for (expected, found) in plain_lines.iter().zip(&recorded_lines) {
        if !expected.starts_with(' ') {
            kind = expected;
        }
        assert_eq!(expected, found, "{kind}");
    }
    assert_eq!(plain_lines.len(), recorded_lines.len());
    assert!(plain_lines.len() > 10_000, "{} lines", plain_lines.len());
    assert_eq!(recorded.status, plain.status);
}

#[test]
fn sandboxes_that_kill_for_a_system_call_let_the_program_live_and_filters_let_it_be_recorded() {
    let confined = program("confined");
    for sandbox in ["strict", "filter", "filter-by-number"] {
        let (plain, recorded) = with_and_without(&confined, &[sandbox]);
        assert!(plain.status.success(), "{sandbox}: {plain:?}");
        assert_eq!(plain, recorded, "{sandbox}");
        let profile = profile_of(&[confined.to_str().expect("a plain path"), sandbox], false);
        let shared = |lock: &Lock| lock.read.as_ref().map_or(0, |read| read.acquisitions);
        let locks = profile.runs[0].processes.iter().flat_map(|process| &process.locks);
        let taken: u64 = locks.map(|lock| lock.acquisitions + shared(lock)).sum();
        // Strict seccomp also forbids reading the clock.
        let expected = if sandbox == "strict" { 0..1 } else { 60_000..76_000 };
        // The last 16,000 locks are taken once each, and there is room for only some of them.
        assert!(expected.contains(&taken), "{sandbox}: {taken}");
    }
}

#[test]
fn a_cancellation_at_any_instruction_ends_the_thread_alone() {
    let (plain, recorded) = with_and_without(&program("cancelled"), &[]);
    assert!(plain.status.success(), "{plain:?}");
    assert_eq!(String::from_utf8_lossy(&plain.stdout), "2100\n");
    assert_eq!(plain, recorded);
}
