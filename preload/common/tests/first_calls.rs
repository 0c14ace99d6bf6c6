//! The first call of each function that a preloaded library exports, made at a moment when the
//! dynamic linker's lock is taken, and at one when the linker has an error to tell.
//!
//! Which functions these are is read from the libraries themselves, so that a new one cannot be
//! forgotten: the program that makes the calls must know it.

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use common::compiled;
use kilocore_shipped::output_of;

/// Returns the names of the functions that a library exports.
fn exported(library: &Path) -> BTreeSet<String> {
    let list = output_of(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    list.lines().filter_map(|line| line.rsplit_once(' ')).map(|(_, name)| name.to_owned()).collect()
}

/// Makes the first calls of all functions of a library, with the library under the program and these
/// variables in its environment.
fn check(library: &str, variables: &[(&str, &str)]) {
    let test = format!("{library}{}", variables.iter().map(|(name, _)| *name).collect::<String>());
    let program = compiled(&test, "first_calls", &["-rdynamic"]);
    let waits = compiled(&test, "waiting_constructor", &["-shared", "-fPIC"]);
    let library = kilocore_shipped::folder().join(library);
    let names = exported(&library);
    let known = output_of(Command::new(&program).arg("list"));
    let known: BTreeSet<String> = known.lines().map(str::to_owned).collect();
    let missing: Vec<&String> = names.difference(&known).collect();
    assert!(names.len() > 10 && missing.is_empty(), "first_calls.c does not call {missing:?}");
    for under in [false, true] {
        let mut command = Command::new(&program);
        if under {
            command.env("LD_PRELOAD", &library).envs(variables.iter().copied());
        }
        let waiting = command.arg("dlopen").arg(&waits).args(&names);
        let output = waiting.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, "ok\n", "during dlopen, with the library: {under}");
        let mut command = Command::new(&program);
        if under {
            command.env("LD_PRELOAD", &library).envs(variables.iter().copied());
        }
        let output = command.arg("dlerror").args(&names).output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(text, "ok\n", "before dlerror, with the library: {under}");
    }
}

#[test]
fn the_recorder_asks_the_linker_nothing_later() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("first-calls-recordings");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    check(
        "libkilocore_measure.so",
        &[("KILOCORE_MEASURE_DIR", folder.to_str().expect("a plain path"))],
    );
}

/// The library has nothing to do without a folder.
#[test]
fn nor_does_it_if_it_records_nothing() {
    check("libkilocore_measure.so", &[]);
}

#[test]
fn replaced_mutexes_ask_the_linker_nothing_later() {
    check("libkilocore_run.so", &[("KILOCORE_LOCK", "mcs")]);
}

#[test]
fn replaced_read_write_locks_ask_the_linker_nothing_later() {
    check("libkilocore_run.so", &[("KILOCORE_RWLOCK", "phase-fair")]);
}

#[test]
fn replaced_locks_of_both_kinds_ask_the_linker_nothing_later() {
    check(
        "libkilocore_run.so",
        &[("KILOCORE_LOCK", "malthusian"), ("KILOCORE_RWLOCK", "bravo-phase-fair")],
    );
}
