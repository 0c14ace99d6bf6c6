//! Where what is printed goes: the program's own output and Kilocore's answer are never mixed in a pipe,
//! and a reader that goes away ends a command as it ends others.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::FromRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

use crate::measured::{kilocore, run_while};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What becomes of these words after `kilocore`, in a folder of their own.
fn run(words: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = kilocore();
    command.args(words).current_dir(folder.path());
    run_while(command, |_| ())
}

/// Prints bytes that are no text, and a line on standard error.
const PRINTS: [&str; 4] = ["sh", "-c", r"printf '\000\377 out'; echo aside >&2; printf end", "-"];

/// What it prints, in bytes.
const PRINTED: &[u8] = b"\0\xff outend";

#[test]
fn a_pipe_gets_the_programs_bytes_and_nothing_else() {
    let quick = ["--machine", "core-i7-6700", "--lock", "futex", "--cores", "1,2", "--budget", "0"];
    for words in [
        &["record", "locks", "--recorder", "preload"][..],
        &["record", "locks", "--recorder", "preload", "--twice"],
        &[&["doctor", "--recorder", "preload"][..], &quick[..]].concat(),
        &["run", "--pages", "--pages-statistics"],
    ] {
        let output = run(&[words, &["--"], &PRINTS].concat());
        let said = text(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        assert_eq!(output.stdout, PRINTED, "{words:?}: {said}");
        assert!(said.contains("aside\n"), "{words:?}: its own errors go where they went: {said}");
        let answer = ["Seen: ", "What was seen", "page pool"];
        assert!(answer.iter().any(|part| said.contains(part)), "{words:?}: no answer: {said}");
    }
}

#[test]
fn a_document_that_is_asked_for_has_standard_output_alone() {
    let output =
        run(&[&["record", "locks", "--json", "--recorder", "preload"], &PRINTS[..]].concat());
    let said = text(&output.stderr);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["format"], "kilocore-profile");
    assert!(said.contains(" out") && said.contains("end") && said.contains("aside"), "{said}");
}

/// Two terminals' ends: what is written to the second is read from the first.
fn terminal() -> [File; 2] {
    let [mut ours, mut theirs] = [0; 2];
    let none = std::ptr::null_mut();
    // SAFETY: two places for descriptors; no name and no settings are asked for.
    let made =
        unsafe { libc::openpty(&raw mut ours, &raw mut theirs, none, none.cast(), none.cast()) };
    assert_eq!(made, 0, "there are terminals");
    // SAFETY: both were just opened, and nobody else has them.
    [ours, theirs].map(|end| unsafe { File::from_raw_fd(end) })
}

#[test]
fn on_a_terminal_the_answer_follows_what_the_program_prints() {
    let [mut ours, theirs] = terminal();
    let folder = tempfile::tempdir().expect("a folder");
    let said = tempfile::NamedTempFile::new().expect("a file");
    let mut child = kilocore()
        .args(["record", "locks", "--recorder", "preload", "--", "echo", "of the program"])
        .current_dir(folder.path())
        .stdout(theirs)
        .stderr(said.reopen().expect("a file"))
        .spawn()
        .expect("it runs");
    // The end of a terminal that nobody has open any more is an error.
    let mut shown = Vec::new();
    let _ = ours.read_to_end(&mut shown);
    assert!(child.wait().expect("a child").success());
    let (shown, said) = (text(&shown), fs::read_to_string(said.path()).expect("a file"));
    let places = ["of the program", "What was seen"].map(|part| shown.find(part));
    assert!(places[0].is_some() && places[0] < places[1], "{shown:?}");
    assert!(!said.contains("What was seen"), "{said}");
}

/// Runs a command whose standard output, and standard error if so wished, nobody reads.
fn unread(command: &mut Command, errors_too: bool) -> Output {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let errors = tempfile::NamedTempFile::new().expect("a file");
    command.stdin(Stdio::null()).stdout(writer.try_clone().expect("a descriptor"));
    match errors_too {
        true => command.stderr(writer),
        false => command.stderr(errors.reopen().expect("a file")),
    };
    let status = command.status().expect("it runs");
    Output { status, stdout: Vec::new(), stderr: fs::read(errors.path()).expect("a file") }
}

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles/sqlite.json");

#[test]
fn a_reader_that_has_gone_away_ends_a_command_as_it_ends_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let forecast = ["forecast", PROFILE, "--machine", "core-i7-6700", "--lock", "futex"];
    let forecast = [&forecast[..], &["--cores", "1,2", "--output", report.to_str().expect("text")]];
    let prints = ["record", "locks", "--json", "--recorder", "preload", "--", "true"];
    let verbs = [
        &["--help"][..],
        &["record", "locks", "--help"],
        &["list", "locks"],
        &["list", "locks", "mcs", "--json"],
        &["list", "machines"],
        &["list", "benchmarks"],
        &["list", "policies"],
        &["show", PROFILE],
        &forecast.concat(),
        &["completions", "bash"],
        &prints,
    ];
    for words in verbs {
        for errors_too in [false, true] {
            let output = unread(kilocore().args(words).current_dir(folder.path()), errors_too);
            let said = text(&output.stderr);
            assert_eq!(output.status.signal(), Some(libc::SIGPIPE), "{words:?}: {said}");
            let own = said.lines().find(|line| !line.starts_with("kilocore: written to "));
            assert_eq!(own, None, "{words:?}: nothing is said of it");
        }
    }
    let whole = fs::read(&report).expect("what was asked for was written all the same");
    assert!(serde_json::from_slice::<serde_json::Value>(&whole).is_ok(), "and whole");
    // What fails fails as ever.
    let refused = unread(kilocore().args(["list", "locks", "nosuch"]), true);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_program_whose_reader_has_gone_away_is_recorded_to_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = ["record", "locks", "--recorder", "preload", "--output", "kept.json", "--"];
    let mut command = kilocore();
    command.args(words).args(["sh", "-c", "yes; exit 7"]).current_dir(folder.path());
    let output = unread(&mut command, false);
    // The shell is told of the death of what printed, as without Kilocore.
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    assert!(folder.path().join("kept.json").metadata().is_ok_and(|file| file.len() > 100));
    // Neither is a message lost that nobody reads, nor the recording.
    let (reader, errors) = std::io::pipe().expect("a pipe");
    drop(reader);
    let words =
        ["record", "locks", "--recorder", "preload", "--output", "again.json", "--", "true"];
    let status = kilocore()
        .args(words)
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(errors)
        .status()
        .expect("it runs");
    assert_eq!(status.signal(), Some(libc::SIGPIPE), "the answer was there");
    assert!(folder.path().join("again.json").metadata().is_ok_and(|file| file.len() > 100));
}
