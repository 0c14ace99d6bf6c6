//! Programs that use what the preloaded libraries displace in ways that few do: very early, in old
//! versions, or all of it. Each checks itself and prints `ok`, with and without a library.

mod common;

use std::path::Path;
use std::process::Command;

use common::compiled;

const MUTEXES: (&str, &str) = ("KILOCORE_LOCK", "clh");
const RWLOCKS: (&str, &str) = ("KILOCORE_RWLOCK", "phase-fair");

/// Runs a program with a library under it, if one is named, and these variables.
fn check(program: &Path, arguments: &[&str], library: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(program);
    command.args(arguments).env_remove("LD_PRELOAD");
    if !library.is_empty() {
        command.env("LD_PRELOAD", kilocore_shipped::folder().join(library));
    }
    let output = command.envs(variables.iter().copied()).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let way = format!("{} {arguments:?} under {library:?} {variables:?}", program.display());
    assert!(output.status.success() && text == "ok\n", "{way}: {}\n{text}", output.status);
}

/// Functions of `.preinit_array` run before the C library knows the environment.
#[test]
fn a_lock_that_is_taken_before_all_constructors_turns_nothing_off() {
    let program = compiled("preinit", "preinit", &[]);
    let run = "libkilocore_run.so";
    check(&program, &[], "", &[]);
    check(&program, &[], run, &[]);
    check(&program, &["m"], run, &[MUTEXES]);
    check(&program, &["r"], run, &[RWLOCKS]);
    check(&program, &["mr"], run, &[MUTEXES, RWLOCKS]);
}

#[test]
fn nor_does_it_keep_the_recorder_from_recording() {
    let program = compiled("preinit-recorded", "preinit", &[]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preinit-recordings");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let directory = ("KILOCORE_MEASURE_DIR", folder.to_str().expect("a plain path"));
    check(&program, &[], "libkilocore_measure.so", &[directory]);
    let recordings = std::fs::read_dir(&folder).expect("it is there").count();
    assert_eq!(recordings, 1);
}

#[test]
fn functions_are_found_by_their_versions() {
    let program = compiled("versions", "versions", &["-Wno-missing-field-initializers"]);
    check(&program, &[], "", &[]);
    check(&program, &[], "libkilocore_run.so", &[RWLOCKS]);
    check(&program, &[], "libkilocore_run.so", &[MUTEXES]);
    check(&program, &[], "libkilocore_measure.so", &[]);
}

#[test]
fn a_program_gets_all_keys() {
    let program = compiled("all-keys", "all_keys", &[]);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("all-keys-recordings");
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    let directory = ("KILOCORE_MEASURE_DIR", folder.to_str().expect("a plain path"));
    for posix in ["1024", "100"] {
        check(&program, &[posix], "", &[]);
        for lock in ["clh", "cna", "hmcs", "malthusian", "mcs"] {
            check(&program, &[posix], "libkilocore_run.so", &[("KILOCORE_LOCK", lock)]);
        }
        check(&program, &[posix], "libkilocore_measure.so", &[directory]);
    }
}
