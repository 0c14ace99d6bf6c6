//! Small C programs, each of which checks one thing. They run without the library and under a lock
//! of each family, and in `make soak` under every lock.
//!
//! A program checks itself and prints `ok`. Any other output is a failure too, because the library
//! must not print. The run without the library shows that a program checks for what glibc does.

mod common;

use std::process::Command;

use common::c::{LIMIT, compile, verdict};
use common::{library, locks, run, under};

/// Runs the program `name` under the chosen locks.
fn check(name: &str, options: &[&str], arguments: &[&str]) {
    check_as(name, name, options, arguments);
}

/// Does the same for a test whose name differs from that of its program.
fn check_as(test: &str, name: &str, options: &[&str], arguments: &[&str]) {
    let program = compile(test, name, options);
    let failures: Vec<String> = locks()
        .filter_map(|lock| {
            let mut command = Command::new(&program);
            command.args(arguments);
            verdict(under(command, lock), lock).err()
        })
        .collect();
    assert!(failures.is_empty(), "{name} fails\n{}", failures.join("\n"));
}

#[test]
fn mutexes_exclude() {
    check("mutex", &[], &[]);
}

#[test]
fn special_kinds_keep_their_meaning() {
    check("kinds", &[], &[]);
}

#[test]
fn deadlines_are_kept() {
    check("timed", &[], &[]);
}

#[test]
fn condition_variables_lose_nothing() {
    check("condvar", &[], &[]);
}

#[test]
fn cancellation_leaves_all_in_order() {
    check("cancel", &["-fno-exceptions"], &[]);
}

/// Cancellation works as in C++: clean-up handlers are found by unwinding through the frames of the
/// wait.
#[test]
fn cancellation_unwinds() {
    check_as("unwind", "cancel", &["-fexceptions"], &[]);
}

#[test]
fn condition_variables_can_be_destroyed_early() {
    check("destroy", &[], &[]);
}

#[test]
fn children_can_use_what_they_inherit() {
    check("fork", &[], &[]);
}

#[test]
fn children_can_have_threads() {
    check("fork_threads", &[], &[]);
}

#[test]
fn waiters_can_be_cancelled_at_any_moment() {
    check("cancel_async", &["-fno-exceptions"], &[]);
}

/// Each timed lock succeeds within twenty seconds. If a lock always passed over waiters with a
/// deadline, it would not.
#[test]
fn timed_locks_get_their_turn() {
    check("starve", &[], &[]);
}

#[test]
fn mutexes_need_no_memory() {
    check("short_memory", &[], &[]);
}

#[test]
fn mutexes_work_in_a_sandbox() {
    check("sandbox", &[], &[]);
}

#[test]
fn waiters_wake_without_membarrier() {
    check("no_membarrier", &[], &[]);
}

#[test]
fn mutexes_that_conditions_use_are_not_destroyed() {
    check("in_use", &["-fno-exceptions"], &[]);
}

#[test]
fn threads_leave_nothing_behind() {
    check("threads", &[], &["8000"]);
}

#[test]
#[ignore = "minutes; the shorter form above always runs"]
fn a_hundred_thousand_threads_leave_nothing_behind() {
    check_as("many-threads", "threads", &[], &["100000"]);
}

#[test]
fn allocators_may_lock() {
    check("allocator", &["-fno-builtin"], &[]);
}

#[test]
fn mutexes_work_to_the_very_end() {
    check("late", &[], &[]);
}

#[test]
fn c11_mutexes_are_replaced_like_those_of_pthreads() {
    check("c11", &[], &[]);
}

/// A library whose constructor locks mutexes is loaded before this library, after it, or later.
#[test]
fn libraries_may_lock_in_constructors() {
    let early = compile("early", "early_library", &["-shared", "-fPIC"]);
    let loader = compile("loader", "loader", &[]);
    let mut failures = Vec::new();
    for lock in locks() {
        let mut opened = Command::new(&loader);
        opened.arg(&early);
        failures.extend(verdict(under(opened, lock), lock).err());
        let Some(lock) = lock else { continue };
        for first in [true, false] {
            let libraries =
                if first { [library(), early.clone()] } else { [early.clone(), library()] };
            let mut command = Command::new("echo");
            command.arg("ok").env("KILOCORE_LOCK", lock).env(
                "LD_PRELOAD",
                std::env::join_paths(libraries).expect("no colons in a target directory"),
            );
            failures.extend(verdict(command, Some(lock)).err());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// If the name of the lock is unknown, the library reports this in one line and changes nothing. If
/// the name is missing or empty, it reports nothing.
#[test]
fn unknown_locks_are_reported() {
    let program = compile("unknown", "kinds", &[]);
    for (lock, complains) in [("no-such-lock", true), ("", false)] {
        let output = run(under(Command::new(&program), Some(lock)), LIMIT);
        assert!(output.status.success());
        assert_eq!(output.stdout, b"ok\n");
        let stderr = String::from_utf8(output.stderr).expect("messages are UTF-8");
        assert_eq!(stderr.lines().count(), usize::from(complains), "{stderr}");
        if complains {
            assert!(stderr.contains("KILOCORE_LOCK=no-such-lock"), "{stderr}");
            assert!(stderr.contains("ticket"), "it does not list the locks: {stderr}");
        }
    }
}
