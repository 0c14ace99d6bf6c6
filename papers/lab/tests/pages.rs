//! `kilocore-lab pages`, on traces that are checked in.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::lab;
use serde_json::Value;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/page-traces/build.pages");

fn pages<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["pages"], words].concat()
}

#[track_caller]
fn run(words: &[&str]) -> String {
    let output = lab(words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn document(words: &[&str]) -> Value {
    serde_json::from_str(&run(words)).expect("one JSON document")
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[track_caller]
fn point<'a>(document: &'a Value, policy: &str, cores: u64) -> &'a Value {
    let points = document["points"].as_array().expect("points");
    let mut found =
        points.iter().filter(|point| point["policy"] == policy && point["cores"] == cores);
    let point = found.next().expect("a point of the policy");
    assert!(found.next().is_none(), "{policy} {cores} comes once");
    point
}

const FEW: [&str; 4] = ["--pool", "linux-4.18,tiered", "--cores", "1,2"];

#[test]
fn the_document_has_points_and_parameters() {
    let document = document(&pages(&[&FEW[..], &["--json"]].concat()));
    assert_eq!(document["provenance"], "simulated");
    assert_eq!(document["machine"], "core-i7-6700");
    assert_eq!(document["pattern"], "pass");
    for parameter in document["parameters"].as_array().expect("parameters") {
        for key in ["name", "value", "source"] {
            assert!(!parameter[key].as_str().expect("text").is_empty(), "{parameter}");
        }
    }
    assert_eq!(document["points"].as_array().expect("points").len(), 4);
    for (policy, cores) in [("linux-4.18", 1), ("linux-4.18", 2), ("tiered", 1), ("tiered", 2)] {
        let point = point(&document, policy, cores);
        let shares = point["found"].as_object().expect("shares").values();
        let sum: f64 = shares.map(|share| share.as_f64().expect("a number")).sum();
        assert!((sum - 1.0).abs() < 1e-9, "each line was somewhere: {point}");
        let latency = &point["initialization"];
        assert!(latency["percentile_10"].as_u64() <= latency["percentile_99"].as_u64());
        for key in ["allocation_cycles", "release_cycles", "pages_per_s"] {
            assert!(point[key].as_f64().expect("a number") > 0.0, "{point}");
        }
    }
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    for pattern in ["pass", "own"] {
        let words = ["--workload", pattern, "--cores", "2", "--pool", "tiered,paper", "--json"];
        let once = run(&pages(&words));
        assert_eq!(once, run(&pages(&words)));
        assert_ne!(once, run(&pages(&[&words[..], &["--seed", "2"]].concat())));
    }
    let words = ["--trace", TRACE, "--pool", "tiered", "--json"];
    assert_eq!(run(&pages(&words)), run(&pages(&words)));
}

#[test]
fn a_trace_says_whose_it_is() {
    let simulated = document(&pages(&["--trace", TRACE, "--pool", "linux-6.12", "--json"]));
    assert!(simulated["command"][0].as_str().is_some_and(|program| !program.is_empty()));
}

#[test]
fn results_go_into_files_of_every_format() {
    let files = ["svg", "csv", "json", "html"].map(|ending| path(&format!("pages.{ending}")));
    let mut words = pages(&FEW);
    for file in &files {
        words.extend(["--output", file.to_str().expect("a name")]);
    }
    run(&words);
    let [svg, csv, json, html] =
        files.map(|file| fs::read_to_string(file).expect("it was written"));
    assert!(svg.starts_with("<svg") && html.contains("Page pools under the pattern"));
    assert_eq!(csv.lines().count(), 1 + 4);
    assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON")["seed"], 1);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_the_mend() {
    let refused = |words: &[&str], parts: &[&str]| common::refused(&pages(words), parts);
    refused(&["--pool", "best"], &["there is no policy", "linux-4.18", "tiered"]);
    refused(&["--workload", "take"], &["take", "own", "pass"]);
    refused(&["--used-before-release", "2"], &["from 0 to 1"]);
    refused(&["--other-pages", "nan"], &["from 0 to 1000"]);
    refused(&["--cores", "0"], &["0"]);
    refused(&["--cores", "9"], &["core-i7-6700", "8"]);
    refused(&["--machine", "abacus"], &["abacus"]);
    refused(&["--trace", "/nonexistent.pages"], &["/nonexistent.pages"]);
    let damaged = path("damaged.pages");
    let whole = fs::read(TRACE).expect("the trace is checked in");
    fs::write(&damaged, &whole[..whole.len() / 2]).expect("the folder is writable");
    refused(&["--trace", damaged.to_str().expect("a name")], &["damaged.pages"]);
}
