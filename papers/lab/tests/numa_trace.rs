//! `kilocore-lab numa --trace`, with the references of a real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{lab, refused};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// What the user's program prints; it records traces.
fn kilocore(words: &[&str]) -> Vec<u8> {
    let program = kilocore_shipped::folder().join("kilocore");
    let output = Command::new(program)
        .args(words)
        .env("KILOCORE_NO_CACHE", "1")
        .output()
        .expect("kilocore runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Lines that are not in order.
fn unsorted(name: &str) -> PathBuf {
    let path = path(name);
    let lines: String =
        (0..20_000_u32).map(|line| format!("{:08x}\n", line.wrapping_mul(2_654_435_761))).collect();
    fs::write(&path, lines).expect("written");
    path
}

fn json(output: &[u8]) -> Value {
    serde_json::from_slice(output).expect("one JSON document")
}

#[test]
fn every_policy_sees_all_references_of_a_trace() {
    let (input, trace) = (unsorted("numa-unsorted"), path("numa-sort.refs"));
    let record = ["record", "references", "--output", text(&trace), "--"];
    let sort = ["sort", "--parallel=4", "-o", "/dev/null", text(&input)];
    kilocore(&[&record[..], &sort].concat());
    let contents = &json(&kilocore(&["show", "--json", text(&trace)]))["contents"];

    let policies = "never,fixed,adjustable,linux,carrefour,balanced,optimum";
    let page = path("numa-sort.html");
    let few = ["numa", "--trace", text(&trace), "--cores", "4", "--copying", policies];
    let output = lab(&[&few[..], &["--json", "--output", text(&page)]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document = json(&output.stdout);
    assert_eq!(document["provenance"], "simulated");
    assert_eq!(document["command"][0], "sort");
    let points = document["points"].as_array().expect("points");
    // Two policies with three delays, and five without.
    assert_eq!(points.len(), 2 * 3 + 5);
    for point in points.iter().filter(|point| point["policy"] != "optimum") {
        let counts = |names: [&str; 2]| -> u64 {
            names.iter().filter_map(|name| point["counts"][name].as_u64()).sum()
        };
        assert_eq!(contents["reads"], counts(["private_reads", "shared_reads"]), "{point}");
        assert_eq!(contents["writes"], counts(["private_writes", "shared_writes"]), "{point}");
    }
    assert!(contents["reads"].as_u64().expect("a count") > 1_000_000);
    assert!(fs::read_to_string(page).expect("it was written").contains("Where the pages of sort"));
    let chart = path("numa-sort.svg");
    refused(&[&few[..], &["--output", text(&chart)]].concat(), &["has no chart"]);

    let whole = fs::read(&trace).expect("a trace");
    let cut = path("numa-cut.refs");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("written");
    refused(&["numa", "--trace", text(&cut)], &["numa-cut.refs"]);
}

#[test]
fn what_is_no_trace_and_pages_that_no_trace_has_are_refused() {
    refused(&["numa", "--trace", "/etc/passwd"], &["/etc/passwd"]);
    refused(&["numa", "--trace", "/nowhere/x.refs"], &["/nowhere"]);
    refused(&["numa", "--trace", "/etc/passwd", "--page", "64"], &["below 4096"]);
    refused(&["numa", "--trace", "/etc/passwd", "--program", "radix"], &["--program"]);
}
