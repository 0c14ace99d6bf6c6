//! Bad input of any kind: exit status 2, one message that names the place and the mend, nothing
//! on standard output, nothing half-written.

use std::path::Path;

use crate::common::{file, lab, refused};

#[test]
fn unknown_names() {
    refused(
        &["lock", "--lock", "tickett"],
        &["unknown lock `tickett`", "did you mean `ticket`?", "Known are tas,"],
    );
    refused(
        &["lock", "--machine", "opteron-6344"],
        &["kilocore-lab: ", "unknown machine `opteron-6344`", "did you mean `opteron-6344-4s`?"],
    );
    let simulate = ["lock", "--machine", "opteron-6344-4s"];
    for (words, parts) in [
        (
            ["--rwlock", "bravo-centrl"],
            ["unknown read-write lock `bravo-centrl`", "did you mean `bravo-central`?"],
        ),
        (["--rwlock", "mcs"], ["unknown read-write lock `mcs`", "known are central-rw"]),
        (["--reads", "101"], ["'101'", "a percentage from 0 to 100"]),
        (["--reads=90", "--lock=mcs"], ["--reads", "--lock"]),
    ] {
        refused(&[&simulate[..], &words].concat(), &parts);
    }
    refused(&["nosuch"], &["nosuch"]);
}

#[test]
fn impossible_numbers_of_cores() {
    let simulate = ["lock", "--machine", "opteron-6344-4s", "--cores"];
    for (cores, parts) in [
        ("0", ["0 cores", "1 to 1024"]),
        ("1000000000", ["1000000000", "1 to 1024"]),
        ("49", ["48 hardware threads", "49"]),
        ("8-4", ["8-4", "backwards"]),
        ("many", ["many", "1,2,4-8"]),
        ("-1", ["-1", "cores"]),
    ] {
        let argument = format!("--cores={cores}");
        refused(&[&simulate[..3], &[&argument]].concat(), &parts);
    }
    refused(&[&simulate[..], &["4", "--threads", "0"]].concat(), &["0 threads"]);
    refused(&[&simulate[..], &["4", "--think=-5"]].concat(), &["-5", "cycles"]);
    refused(&[&simulate[..], &["4", "--hold", "nan"]].concat(), &["nan", "cycles"]);
}

#[test]
fn reports_of_unknown_kinds_are_refused_before_the_work() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.docx");
    for experiment in [
        &["lock"][..],
        &["ldu", "--workload", "aim7"],
        &["lru"],
        &["numa"],
        &["pages"],
        &["sched"],
        &["sched", "--experiment", "cache"],
    ] {
        let words = [experiment, &["--output", path.to_str().expect("a name")]].concat();
        refused(&words, &["report.docx", ".html"]);
        assert!(!path.exists());
    }
}

#[test]
fn a_report_names_the_program_that_made_it() {
    let path = file("lock.html", b"");
    let path = path.to_str().expect("a name");
    let words =
        ["lock", "--lock", "mcs", "--cores", "1,2", "--acquisitions", "100", "--output", path];
    let output = lab(&words);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("kilocore-lab: written to "));
    let page = std::fs::read_to_string(path).expect("it was written");
    assert!(
        page.contains("Made by kilocore-lab ") && page.contains("<code>kilocore-lab lock --lock")
    );
}
