//! Checks that the example in C compiles without a warning and runs under every lock.

use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_locks::{LockId, RwLockId};
use kilocore_shipped::{c_example, output_of};

fn compile(name: &str, libraries: &[&str]) -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    c_example(Path::new(env!("CARGO_MANIFEST_DIR")), "jobs", &program, libraries);
    program
}

#[test]
fn the_example_runs_under_every_lock_with_the_shared_library() {
    let program = compile("jobs-shared", &["-lkilocore_c"]);
    let mut expected = String::new();
    for lock in LockId::ALL {
        for table in RwLockId::ALL {
            expected.push_str(&format!("{lock}, {table}: 200 results\n"));
        }
    }
    assert_eq!(output_of(&mut Command::new(program)), expected);
}

#[test]
fn the_example_finds_its_lock_by_name_with_the_static_library() {
    let libraries = ["-Wl,-Bstatic", "-lkilocore_c", "-Wl,-Bdynamic", "-lm", "-ldl"];
    let program = compile("jobs-static", &libraries);
    // An alias of `ttas` in published data sets.
    let text = output_of(Command::new(&program).arg(LockId::Ttas.info().aliases[0]));
    let results = RwLockId::ALL.iter().map(|table| format!("ttas, {table}: 200 results\n"));
    assert_eq!(text, results.collect::<String>());
    let unknown = Command::new(program).arg("no-such-lock").output().expect("it starts");
    assert_eq!(unknown.status.code(), Some(2));
}

/// A program in C++ may include the header too.
#[test]
fn the_header_is_one_of_c_plus_plus_as_well() {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/kilocore_locks.h");
    let arguments = ["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];
    output_of(Command::new("cc").args(arguments).arg("-fsyntax-only").arg(header));
}
