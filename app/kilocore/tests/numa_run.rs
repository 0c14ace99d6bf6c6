//! `kilocore numa run` and `replay`, and `show` of the trace, with real programs under QEMU.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::kilocore;
use serde_json::Value;

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

fn json(output: &std::process::Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

#[test]
fn a_program_does_what_it_does_and_its_trace_replays_to_the_same_figures() {
    let (input, sorted) = (unsorted("numa-unsorted"), path("numa-sorted"));
    let trace = path("numa-sort.refs");
    let few =
        ["--cpus", "4", "--policy", "never,fixed,adjustable,linux,carrefour,balanced,optimum"];
    let sort = ["sort", "--parallel=4", "-o", text(&sorted), text(&input)];
    let words =
        [&["numa", "run", "--json", "--record", text(&trace)], &few[..], &["--"], &sort].concat();
    let ran = kilocore(&words);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut lines: Vec<String> =
        fs::read_to_string(&input).expect("input").lines().map(str::to_owned).collect();
    lines.sort_unstable();
    assert_eq!(fs::read_to_string(&sorted).expect("sorted"), lines.join("\n") + "\n");

    let ran = json(&ran);
    assert_eq!(ran["provenance"], "simulated");
    let points = ran["points"].as_array().expect("points");
    // Two policies with three delays, and five without.
    assert_eq!(points.len(), 2 * 3 + 5);
    assert!(points[0]["counts"]["shared_reads"].as_u64().expect("a count") > 1_000_000);
    let replayed = kilocore(&[&["numa", "replay", "--json"], &few[..], &[text(&trace)]].concat());
    assert_eq!(json(&replayed)["points"], ran["points"]);

    let shown = json(&kilocore(&["show", "--json", text(&trace)]));
    let (counts, contents) = (&points[0]["counts"], &shown["contents"]);
    assert_eq!(contents["reads"], counts["shared_reads"]);
    assert_eq!(contents["writes"], counts["shared_writes"]);
    assert_eq!(shown["trace"]["command"][0], "sort");

    let whole = fs::read(&trace).expect("a trace");
    let cut = path("numa-cut.refs");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("written");
    for verb in [&["numa", "replay"][..], &["show"], &["forecast"]] {
        let refused = kilocore(&[verb, &[text(&cut)]].concat());
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains("numa-cut.refs"), "{said}");
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn the_programs_status_is_passed_on() {
    let run = |script: &str| {
        kilocore(&["numa", "run", "--cpus", "2", "--policy", "never", "--", "sh", "-c", script])
    };
    let exited = run("echo said; exit 3");
    assert_eq!(exited.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&exited.stdout).starts_with("said\n"));
    assert_eq!(run("kill -KILL $$").status.code(), Some(128 + 9));
    // Its child is not in the stream, and does what it does.
    assert!(
        String::from_utf8_lossy(&run("(echo from a child) | cat").stdout).contains("from a child")
    );
}

#[test]
fn what_cannot_be_run_is_refused() {
    let refused = |words: &[&str], status: i32, expected: &str| {
        let output = kilocore(&[&["numa", "run"], words].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{said}");
        assert!(said.contains(expected), "{said}");
    };
    refused(&["--", "/nowhere/program"], 127, "/nowhere/program");
    refused(&["--", "/etc/passwd"], 126, "/etc/passwd");
    refused(&["--cpus", "0", "--", "true"], 2, "0");
    refused(&["--page", "64", "--", "true"], 2, "below 4096");
    refused(&["--record", "/nowhere/x.refs", "--", "true"], 2, "/nowhere");
    refused(&[], 2, "COMMAND");
    let no_trace = kilocore(&["numa", "replay", "/etc/passwd"]);
    assert_eq!(no_trace.status.code(), Some(2));
}
