//! `kilocore record references` and `show`, with real programs under QEMU.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// What ships: a recording needs the plugin beside the program.
fn kilocore(words: &[&str]) -> Output {
    let program = kilocore_shipped::folder().join("kilocore");
    Command::new(program).args(words).output().expect("kilocore runs")
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Lines that are not in order.
fn unsorted(name: &str) -> PathBuf {
    let path = path(name);
    let lines: String =
        (0..20_000_u32).map(|line| format!("{:08x}\n", line.wrapping_mul(2_654_435_761))).collect();
    fs::write(&path, lines).expect("written");
    path
}

#[test]
fn a_program_does_what_it_does_and_its_trace_is_summarized() {
    let (input, sorted) = (unsorted("numa-unsorted"), path("numa-sorted"));
    let trace = path("numa-sort.refs");
    let sort = ["sort", "--parallel=4", "-o", text(&sorted), text(&input)];
    let ran =
        kilocore(&[&["record", "references", "--output", text(&trace), "--"], &sort[..]].concat());
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("recording written to"), "{said}");
    let mut lines: Vec<String> =
        fs::read_to_string(&input).expect("input").lines().map(str::to_owned).collect();
    lines.sort_unstable();
    assert_eq!(fs::read_to_string(&sorted).expect("sorted"), lines.join("\n") + "\n");

    let shown = kilocore(&["show", "--json", text(&trace)]);
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("one JSON document");
    assert!(shown["contents"]["reads"].as_u64().expect("a count") > 1_000_000);
    assert_eq!(shown["trace"]["command"][0], "sort");

    let whole = fs::read(&trace).expect("a trace");
    let cut = path("numa-cut.refs");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("written");
    let refused = kilocore(&["show", text(&cut)]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("numa-cut.refs"), "{said}");
    assert!(refused.stdout.is_empty());
}

#[test]
fn the_programs_status_is_passed_on() {
    let trace = path("numa-status.refs");
    let run = |script: &str| {
        kilocore(&["record", "references", "--output", text(&trace), "--", "sh", "-c", script])
    };
    let exited = run("echo said; exit 3");
    assert_eq!(exited.status.code(), Some(3));
    assert_eq!(String::from_utf8_lossy(&exited.stdout), "said\n");
    assert_eq!(run("kill -KILL $$").status.code(), Some(128 + 9));
    // Its child is not in the stream, and does what it does.
    assert!(
        String::from_utf8_lossy(&run("(echo from a child) | cat").stdout).contains("from a child")
    );
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let refused = |words: &[&str], status: i32, expected: &str| {
        let output = kilocore(&[&["record", "references"], words].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    refused(&["--", "/nowhere/program"], 127, "/nowhere/program");
    refused(&["--", "/etc/passwd"], 126, "/etc/passwd");
    refused(&["--quantum", "0", "--", "true"], 2, "0");
    refused(&["--output", "/nowhere/x.refs", "--", "true"], 2, "/nowhere");
    refused(&[], 2, "COMMAND");
}
