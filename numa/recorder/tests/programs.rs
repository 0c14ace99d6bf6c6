//! Programs that people use, beside what they do without QEMU.

use std::ffi::OsString;
use std::fmt::Write;
use std::process::Command;

use kilocore_references::Ending;

use crate::support::{compiled, folder, options, summed, words};

/// Runs a program both ways and compares. Returns how many threads it had.
fn compared(command: &[OsString]) -> usize {
    let native = Command::new(&command[0]).args(&command[1..]).output().expect("it starts");
    let ran = summed(command, options());
    assert_eq!(ran.status, native.status);
    assert!(ran.stdout == native.stdout, "{command:?} has another result");
    assert_eq!((ran.made.ending, ran.threads_unrecorded), (Ending::Exited(0), 0));
    ran.made.started
}

/// Lines that look like nothing in particular.
fn text(lines: u64) -> String {
    let mut text = String::new();
    let mut number = 1_u64;
    for _ in 0..lines {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        writeln!(text, "{:x} {}", number >> 40, number % 1_000).expect("there is memory");
    }
    text
}

#[test]
fn xz_packs_the_same() {
    let folder = folder();
    let file = folder.path().join("text");
    std::fs::write(&file, text(100_000)).expect("there is room");
    let file = file.to_str().expect("plain letters");
    let arguments = ["-T4", "--block-size=200000", "-1", "-c", file];
    assert_eq!(compared(&words("xz".as_ref(), &arguments)), 5);
}

#[test]
fn sort_sorts_the_same() {
    let folder = folder();
    let file = folder.path().join("text");
    std::fs::write(&file, text(300_000)).expect("there is room");
    let file = file.to_str().expect("plain letters");
    assert!(compared(&words("sort".as_ref(), &["--parallel=4", "-S", "100M", file])) > 1);
}

#[test]
fn openmp_adds_up_the_same() {
    let folder = folder();
    let program = compiled(folder.path(), "sums.cpp");
    assert_eq!(compared(&words(&program, &[])), 4);
}

#[test]
fn a_script_runs_under_its_interpreter() {
    let folder = folder();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/bin/sh -e\necho \"$0 $1\"\necho x | tr x y\n").expect("room");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, executable).expect("it is ours");
    assert_eq!(compared(&words(&script, &["one"])), 1);
}
