//! Bad input of any kind: exit status 2, one message that names the place and the mend, nothing
//! on standard output, nothing half-written.

use crate::common;

use std::path::{Path, PathBuf};

use common::{ended, file, kilocore, refused};

#[test]
fn unknown_names() {
    refused(
        &["forecast", "none.json", "--lock", "tickett"],
        &["unknown lock `tickett`", "did you mean `ticket`?", "Known are tas,"],
    );
    refused(
        &["doctor", "--machine", "opteron-6344", "--", "true"],
        &["unknown machine `opteron-6344`", "did you mean `opteron-6344-4s`?"],
    );
    refused(&["run", "--lock", "nosuch", "--", "true"], &["unknown lock `nosuch`; known", "mcs"]);
    refused(
        &["run", "--rwlock", "phase-fare", "true"],
        &["unknown read-write lock `phase-fare`; did you mean `phase-fair`?"],
    );
    // Those alone that may be put under a program.
    let unknown = ["unknown read-write lock `mcs`", "known are reader-first, writer-first"];
    refused(&["run", "--rwlock", "mcs", "true"], &unknown);
    refused(
        &["run", "--rwlock", "central-rw", "true"],
        &["`central-rw`", "those that do", "phase-fair"],
    );
    refused(&["run", "--", "true"], &["--lock <NAME>", "--rwlock <NAME>", "--pages"]);
    refused(&["list", "locks", "mcs_spn"], &["did you mean `mcs_spin`?"]);
    refused(&["list", "locks", "phase-fare"], &["did you mean `phase-fair`?"]);
    refused(&["bench", "getpid"], &["unknown benchmark `getpid`; did you mean `getppid`?"]);
    refused(&["list", "machines", "nosuch"], &["nosuch"]);
    refused(&["list", "benchmarks", "getpid"], &["did you mean `getppid`?"]);
    refused(&["list", "policies", "lock-aware-ish"], &["lock-aware-ish", "malthusian"]);
    refused(&["list", "colours"], &["colours"]);
    refused(&["list", "locks", "nosuch"], &["nosuch"]);
    refused(&["nosuch"], &["nosuch"]);
}

#[test]
fn impossible_numbers_of_cores() {
    for (cores, parts) in [
        ("0", ["0 cores", "1 to 1024"]),
        ("1000000000", ["1000000000", "1 to 1024"]),
        ("8-4", ["8-4", "backwards"]),
        ("many", ["many", "1,2,4-8"]),
        ("-1", ["-1", "cores"]),
    ] {
        let cores = format!("--cores={cores}");
        refused(&["doctor", "--machine", "opteron-6344-4s", &cores, "--", "true"], &parts);
    }
    let doctor = ["doctor", "--machine", "opteron-6344-4s", "--cores", "1,49", "--", "true"];
    refused(&doctor, &["48 hardware threads", "49"]);
}

#[test]
fn profiles_that_are_none() {
    let predict = |path: &Path| {
        let path = path.to_str().unwrap().to_owned();
        ["forecast".to_owned(), path, "--machine".to_owned(), "opteron-6344-4s".to_owned()]
    };
    let cases = [
        (file("truncated.json", br#"{"format":"kilocore-profile","version":1,"comm"#), "cut short"),
        (file("foreign.json", br#"{"traceEvents":[]}"#), "kilocore record locks"),
        (file("binary.json", &[0xFF, 0xFE, 0, 1, 2]), "binary.json"),
        (file("empty.json", b""), "empty.json"),
        (PathBuf::from("/nonexistent/profile.json"), "/nonexistent/profile.json"),
    ];
    for (path, part) in cases {
        let words = predict(&path);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        refused(&words, &[path.to_str().unwrap(), part]);
    }
}

#[test]
fn machine_files_with_missing_or_absurd_fields() {
    let shown = kilocore(&["list", "machines", "opteron-6344-4s"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    let without: String =
        text.lines().filter(|line| !line.contains("clock_ghz")).map(|l| format!("{l}\n")).collect();
    let absurd = text.replace("sockets = 4", "sockets = 4000");
    assert_ne!(absurd, text);
    for (name, content, part) in [
        ("missing.toml", without, "clock_ghz"),
        ("absurd.toml", absurd, "topology.sockets"),
        ("none.toml", "this is no machine".to_owned(), "TOML"),
    ] {
        let path = file(name, content.as_bytes());
        let path = path.to_str().unwrap();
        refused(&["doctor", "--machine", path, "--", "true"], &[path, part]);
    }
}

#[test]
fn programs_that_are_not_there() {
    for verb in [
        &["run", "--lock", "mcs"][..],
        &["record", "locks"],
        &["doctor", "--machine", "core-i7-6700"],
    ] {
        ended(
            127,
            &[verb, &["--", "/nonexistent/program"]].concat(),
            &["/nonexistent/program", "path"],
        );
        ended(127, &[verb, &["no-such-program-anywhere"]].concat(), &["no-such-program-anywhere"]);
        ended(126, &[verb, &["--", "/etc/passwd"]].concat(), &["/etc/passwd", "executable"]);
        refused(verb, &["COMMAND"]);
    }
}

#[test]
fn reports_of_unknown_kinds_are_refused_before_the_work() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.docx");
    let path_name = path.to_str().unwrap();
    let words = ["doctor", "--machine", "core-i7-6700", "--output", path_name, "--", "true"];
    refused(&words, &["report.docx", ".html"]);
    assert!(!path.exists());
}

#[test]
fn results_that_have_no_file() {
    let emulate = |option: &str, file: &str| {
        let words = ["emulate", option, file, "--", "true"];
        refused(&words, &[file]);
        kilocore(&words).stderr
    };
    for words in [
        &["record", "machine", "--output", "-"][..],
        &["record", "samples", "--output", "-", "--", "true"],
        &["record", "locks", "--output", "-", "--", "true"],
        &["emulate", "--stacks", "-", "--", "true"],
    ] {
        refused(words, &["-: a result is written to a file", "/dev/stdout"]);
    }
    assert!(String::from_utf8_lossy(&emulate("--output", "-")).contains("end it in .html"));
    assert!(!Path::new("-").exists(), "nothing is written");
    // A folder is no file, whatever its name ends in.
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let page = folder.path().join("d.html");
    std::fs::create_dir(&page).expect("there is room");
    for option in ["--output", "--stacks"] {
        let said = emulate(option, page.to_str().expect("plain"));
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("directory") && said.contains("a file in it"), "{said}");
    }
}

#[test]
fn numbers_that_are_misspelt_in_a_command() {
    for verb in
        [&["emulate"][..], &["doctor"], &["record", "locks"], &["locate", "--work", "total"]]
    {
        for (wrong, right) in [("{core}", "{cores}"), ("-j{thread}", "{threads}")] {
            refused(&[verb, &["--", "true", wrong]].concat(), &[right, "the number of cores"]);
        }
    }
}
