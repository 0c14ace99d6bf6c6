//! The command line itself: completions, manual pages, help, and what is printed where.

use crate::common;

use std::fs;
use std::process::Command;

use common::kilocore;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = kilocore(&["completions", shell]);
        assert!(output.status.success());
        let script = text(&output.stdout);
        for word in ["doctor", "record", "locks", "machines", "duration"] {
            assert!(script.contains(word), "{shell}: no {word}");
        }
    }
    let script = kilocore(&["completions", "bash"]).stdout;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), script).unwrap();
    let checked = Command::new("bash").arg("-n").arg(file.path()).status().expect("bash");
    assert!(checked.success());
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().unwrap();
    let output = kilocore(&["manual", folder.path().join("man1").to_str().unwrap()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (page, part) in [
        ("kilocore.1", "doctor"),
        ("kilocore-record-locks.1", "duration"),
        ("kilocore-run.1", "lock"),
        ("kilocore-list-machines.1", "machine"),
        ("kilocore-record-references.1", "quantum"),
    ] {
        let page = fs::read_to_string(folder.path().join("man1").join(page)).expect(page);
        assert!(page.starts_with(".ie") && page.contains(part), "{page}");
    }
    let hidden = fs::read_dir(folder.path().join("man1")).unwrap().flatten();
    assert!(
        !hidden.into_iter().any(|page| text(page.file_name().as_encoded_bytes()).contains("help"))
    );
}

#[test]
fn help_gives_examples() {
    for command in
        [&["--help"][..], &["doctor", "--help"], &["record", "locks", "--help"], &["run", "-h"]]
    {
        let output = kilocore(command);
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("Examples:\n  kilocore "), "{command:?}");
    }
}

#[test]
fn a_program_needs_no_dashes_in_front_and_keeps_its_own() {
    let plain = |words: &[&str]| kilocore(&[&["run", "--lock", "futex"], words].concat());
    // No library is there to be put under it, in a test's build: who asks for it has found the
    // program, and its options are not taken for kilocore's.
    for words in [&["echo", "-n", "--lock"][..], &["--", "echo", "-n", "--lock"]] {
        let output = plain(words);
        let said = text(&output.stderr);
        let runs = output.status.success() && text(&output.stdout) == "--lock";
        assert!(runs || said.contains("libkilocore_run.so"), "{words:?}: {said}");
    }
    let output = plain(&["--no-such-option", "echo"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn plain_characters_where_others_cannot_be_shown() {
    let kinds = |variables| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
        for name in ["LC_ALL", "LC_CTYPE", "LANG", "TERM", "COLUMNS", "NO_COLOR"] {
            command.env_remove(name);
        }
        let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles/sqlite.json");
        let words = ["forecast", profile, "--machine", "core-i7-6700", "--lock", "ticket"];
        let output = command.args(words).args(["--cores", "1-2"]).envs(variables).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        (output.stdout.is_ascii(), output.stdout.contains(&0x1b))
    };
    assert_eq!(kinds(vec![("LANG", "en_US.UTF-8")]), (false, false), "curves are drawn");
    assert_eq!(kinds(vec![("LC_ALL", "C"), ("LANG", "en_US.UTF-8")]), (true, false));
    assert_eq!(kinds(vec![("TERM", "dumb"), ("LANG", "en_US.UTF-8")]), (true, false));
}

#[test]
fn json_is_the_same_in_every_language() {
    let json = |locale: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
        command.args(["list", "locks", "--json"]).env("LC_ALL", locale).output().unwrap().stdout
    };
    assert_eq!(json("C"), json("C.UTF-8"));
}

/// What `kilocore run` says on one core before it runs a program, with a library that is none.
fn said_by_run(options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("libkilocore_run.so"), "").unwrap();
    let words = [&[env!("CARGO_BIN_EXE_kilocore"), "run"], options, &["true"]].concat();
    let command: Vec<_> = words.iter().map(std::ffi::OsString::from).collect();
    let said = tempfile::NamedTempFile::new().unwrap();
    let file = said.reopen().unwrap();
    let cores = kilocore_process::allowed_cores();
    let end = kilocore_process::run(kilocore_process::Start {
        command: &command,
        environment: vec![("KILOCORE_LIBRARY_DIR".into(), folder.path().into())],
        cores: Some(&cores[..1]),
        output: kilocore_process::Output::To {
            stdout: std::os::fd::AsFd::as_fd(&file),
            stderr: std::os::fd::AsFd::as_fd(&file),
        },
        ..Default::default()
    });
    assert!(end.expect("it runs").status.success());
    fs::read_to_string(said.path()).unwrap()
}

#[test]
fn run_warns_of_strict_queues_on_few_cores_unless_told_not_to() {
    let warning = "hands over in a fixed order";
    assert!(said_by_run(&["--lock", "mcs"]).contains(warning));
    assert!(!said_by_run(&["--quiet", "--lock", "mcs"]).contains(warning));
    assert!(!said_by_run(&["--lock", "mcs-park"]).contains(warning));
    assert!(!said_by_run(&["--rwlock", "phase-fair"]).contains(warning));
    assert!(said_by_run(&["--rwlock", "phase-fair", "--lock", "mcs"]).contains(warning));
}

#[test]
fn a_library_that_cannot_be_preloaded_from_where_it_is_is_refused() {
    let folder = tempfile::Builder::new().prefix("a space").tempdir().unwrap();
    for (library, verb) in [
        ("libkilocore_run.so", &["run", "--lock", "futex"][..]),
        ("libkilocore_measure.so", &["record", "locks"]),
        ("libkilocore_pages.so", &["run", "--pages"]),
    ] {
        fs::write(folder.path().join(library), "").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_kilocore"))
            .args(verb)
            .arg("true")
            .env("KILOCORE_LIBRARY_DIR", folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{verb:?}");
        assert!(text(&output.stderr).contains("space"), "{}", text(&output.stderr));
    }
}
