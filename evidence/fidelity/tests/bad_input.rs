//! Bad input ends with exit status 2 and one message, before any simulation.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kilocore-fidelity"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn refused(arguments: &[&str], said: &str) {
    let output = run(arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
    assert!(message.contains(said), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn what_does_not_exist_is_named() {
    refused(&["--machine", "A64"], "there are A48 and I48");
    refused(&["--setting", "D"], "there are A and B");
    refused(&["--program", "no such program"], "--program");
    refused(&["--data", "/no/such/folder"], "/no/such/folder/litl/A48.csv");
}

#[test]
fn a_page_of_a_part_is_refused() {
    refused(&["--docs", "docs", "--machine", "A48"], "cannot be used with");
}

#[test]
fn notes_on_what_does_not_exist_are_refused() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let docs = folder.path().to_str().expect("its path is text");
    fs::write(folder.path().join("fidelity-notes.toml"), "[A48]\nquake = \"x\"\n")
        .expect("the folder is writable");
    refused(&["--docs", docs], "[A48] quake: there is no such bar or program");
}

#[test]
fn a_bad_row_is_named_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let litl = folder.path().join("litl");
    fs::create_dir(&litl).expect("the folder is writable");
    let rows = "program,nodes,lock,runs,throughput_median,throughput_q1,throughput_q3\n\
                p,1,ticket,5,-1,1,1\n";
    fs::write(litl.join("A48.csv"), rows).expect("the folder is writable");
    let data = folder.path().to_str().expect("its path is text");
    refused(&["--data", data], "A48.csv, line 2: throughputs must be above zero");
}
