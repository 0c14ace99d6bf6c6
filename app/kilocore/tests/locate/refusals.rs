//! What `locate` and `compare` refuse, and how.

use std::process::Command;

use crate::common::{ended, file, refused};

#[test]
fn profiles_that_are_none() {
    let folded = file("some.folded", b"main;work 100\n").display().to_string();
    let locate = |base: &str, scaled: &str, parts: &[&str]| {
        refused(&["compare", base, scaled], parts);
    };
    locate("/nowhere/base.data", &folded, &["/nowhere/base.data"]);
    let empty = file("empty.data", b"").display().to_string();
    locate(&folded, &empty, &["empty.data", "empty"]);
    let noise = file("noise.data", &[0, 159, 146, 150, 7, 255]).display().to_string();
    locate(&noise, &folded, &["noise.data", "no profile"]);
    let cut = file("cut.data", b"PERFILE2\x68\0\0\0\0\0\0\0").display().to_string();
    locate(&cut, &folded, &["cut.data"]);
    let differential = file("two.folded", b"main;work 100 200\nmain 3 4\n").display().to_string();
    locate(&differential, &folded, &["two.folded:1", "difference"]);
    refused(&["compare", &folded], &["<B>"]);
}

#[test]
fn facts_that_are_none() {
    let folded = file("facts.folded", b"main;work 100\n").display().to_string();
    let with =
        |option: &str, parts: &[&str]| refused(&["compare", &folded, &folded, option], parts);
    with("--base-cores=0", &["--base-cores"]);
    with("--base-work=0", &["no work at all"]);
    with("--scaled-work=1,000", &["1,000", "120000"]);
    with("--run-noise=-1", &["number above zero"]);
    with("--base-work=7", &["known of", "--scaled-work"]);
    with("--base-frequency=100", &["--scaled-frequency"]);
    with("--output=/nowhere/at/all.html", &["/nowhere/at/all.html"]);
    with("--output=answer.pdf", &["answer.pdf"]);
}

#[test]
fn sidecars_that_are_none() {
    let folded = file("beside.folded", b"main;work 100\n").display().to_string();
    file("beside.folded.kilocore.json", br#"{"schema": "kilocore-sidecar-1", "cores": "two"}"#);
    refused(
        &["compare", &folded, &folded],
        &["beside.folded.kilocore.json", "line 1", "remove it"],
    );
}

#[test]
fn runs_that_cannot_be_recorded() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let new = folder.path().join("new").display().to_string();
    let record = |words: &[&str], parts: &[&str]| {
        let all = [&["locate", "--folder", &new], words].concat();
        refused(&all, parts);
        assert!(!folder.path().join("new").exists(), "{words:?} left a folder");
    };
    record(&["--cores=1,100000", "--", "true"], &["1024"]);
    record(&["--cores=1,1000", "--", "true"], &["--cores", "1000"]);
    record(&["--cores=1", "--", "true"], &["two numbers of cores"]);
    record(&["--cores=1,1", "--", "true"], &["two numbers of cores"]);
    record(&["--work=(", "--", "true"], &["expression"]);
    record(&["--work=(a)(b)", "--", "true"], &["2 groups"]);
    record(&["--output=x.pdf", "--", "true"], &["x.pdf"]);
    // As shells have it.
    let missing = ["locate", "--folder", &new, "--", "/nowhere/program"];
    ended(127, &missing, &["/nowhere/program"]);
    assert!(!folder.path().join("new").exists(), "a folder was left");
    std::fs::write(folder.path().join("mine"), "mine").expect("a file of the test's own");
    let used = folder.path().display().to_string();
    refused(&["locate", "--folder", &used, "--", "true"], &["something in it"]);
}

/// Two recordings at once took one folder, and the one that failed removed what the other had written.
#[test]
fn a_folder_that_another_recording_has_taken_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let other = std::fs::File::open(folder.path()).expect("it is there");
    other.lock().expect("nobody has taken it");
    let output = Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["locate", "--cores=1,2", "--runs=1", "--folder"])
        .arg(folder.path())
        .args(["--", "false"])
        .output()
        .expect("kilocore runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(folder.path().exists(), "it was removed: {said}");
    // On one core there is nothing to compare, and that is said first.
    if !said.contains("may be used here") && !said.contains("two numbers of cores") {
        assert!(said.contains("another `locate` writes there"), "{said}");
    }
    assert_eq!(output.status.code(), Some(2), "{said}");
}
