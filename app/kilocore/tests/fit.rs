//! `kilocore forecast` of measured throughputs: what it refuses, what it leaves out, and whether it finds again what a known
//! workload does.

use crate::common;

use std::path::Path;
use std::process::Output;

use common::{file, kilocore};

use serde_json::Value;

fn succeeds(words: &[&str]) -> Output {
    let output = kilocore(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Asserts that measurements are refused with one line, which names the file and holds all the
/// given parts. A file of this name is made if there is content.
#[track_caller]
fn refused(name: &str, content: Option<&[u8]>, parts: &[&str]) {
    let path = match content {
        Some(content) => file(name, content),
        None => Path::new(env!("CARGO_TARGET_TMPDIR")).join(name),
    };
    let path = path.to_str().expect("a plain path");
    let output = kilocore(&["forecast", path, "--machine", "core-i7-6700", "--json"]);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{name}: {message}");
    assert!(output.stdout.is_empty(), "{name} printed {:?}", output.stdout);
    let failures: Vec<&str> = message.lines().filter(|line| !line.contains("left out")).collect();
    let [failure] = failures.as_slice() else { panic!("one message for {name}: {message}") };
    assert!(failure.starts_with("kilocore: ") && failure.contains(path), "{failure}");
    for part in parts {
        assert!(failure.contains(part), "{name}: no '{part}' in: {failure}");
    }
}

const HEADER: &str = "lock,cores,throughput\n";

#[test]
fn files_that_hold_no_measurements() {
    refused("fit-none.csv", None, &["No such file"]);
    refused("", None, &["directory"]);
    refused("fit-empty.csv", Some(b""), &["empty"]);
    refused("fit-gzip.csv", Some(b"\x1f\x8b\x08\0\0\0\0\0"), &["looked for were"]);
    refused("fit-latin.csv", Some(b"lock,cores,throughput\nmcs,1,\xe4\n"), &["UTF-8"]);
    refused("fit-header.csv", Some(HEADER.as_bytes()), &["no row"]);
    refused(
        "fit-missing.csv",
        Some(b"lock,cores,threads\nmcs,1,1\n"),
        &["no column throughput", "'threads'"],
    );
    refused("fit-nameless.csv", Some(b"mcs,1,5\n"), &["columns lock,cores,throughput"]);
    refused("fit-broken.json", Some(b"{\"points\":["), &["ends in the middle"]);
    refused("fit-other.json", Some(b"{\"curves\":[]}"), &["measured throughputs"]);
    refused("fit-profile.json", Some(b"{\"format\":1,\"runs\":[]}"), &["measured throughputs"]);
}

#[test]
fn rows_that_leave_nothing() {
    let rows = |rows: &str| format!("{HEADER}{rows}").into_bytes();
    for (name, content, parts) in [
        ("fit-negative.csv", "mcs,2,-5\n", ["line 2", "negative"]),
        ("fit-zero.csv", "mcs,2,0\n", ["line 2", "zero"]),
        ("fit-absent.csv", "mcs,2,\n", ["line 2", "absent"]),
        ("fit-words.csv", "mcs,2,fast\n", ["line 2", "'fast'"]),
        ("fit-nan.csv", "mcs,2,nan\n", ["line 2", "not a number"]),
        ("fit-infinite.csv", "mcs,2,inf\n", ["line 2", "infinite"]),
        ("fit-cores.csv", "mcs,0,5\n", ["line 2", "whole number"]),
        ("fit-half.csv", "mcs,1.5,5\n", ["line 2", "whole number"]),
        ("fit-foreign.csv", "qspinlock,2,5\n", ["on 2 cores", "two numbers of cores"]),
        ("fit-beyond.csv", "mcs,64,5\n", ["8 hardware threads", "core-i7-6700"]),
    ] {
        refused(name, Some(&rows(content)), &parts);
    }
}

#[test]
fn too_few_points_to_tell_workloads_apart() {
    refused("fit-one.csv", Some(b"lock,cores,throughput\nmcs,2,5\n"), &["1 measured point"]);
    // Repeats are one point.
    let repeats = b"lock,cores,throughput\nmcs,2,5\nmcs,2,6\nmcs,2,7\nmcs,2,8\n";
    refused("fit-repeats.csv", Some(repeats), &["1 measured point"]);
    let left = b"lock,cores,throughput\nmcs,2,5\nmcs,4,x\nmcs,64,5\n";
    refused("fit-left.csv", Some(left), &["1 measured point"]);
    // However many locks there are on one number of cores, they do not show what more cores do.
    let one = b"lock,cores,throughput\nmcs,1,5\nticket,1,5\nfutex,1,6\nttas,1,6\n";
    refused("fit-one-count.csv", Some(one), &["on 1 core,", "at least two numbers of cores"]);
}

#[test]
fn words_that_are_wrong() {
    let path = file("fit-words-wrong.csv", b"lock,cores,throughput\nmcs,2,5\n");
    let path = path.to_str().expect("a plain path");
    for (words, parts) in [
        (&["--machine", "core-i7-6700", "--cores", "16"][..], ["8 hardware threads", "16"]),
        (&["--machine", "core-i7-6700", "--lock", "qspinlock"], ["qspinlock", "ticket"]),
        (&["--machine", "core-i7"], ["core-i7", "core-i7-6700"]),
        (&["--machine", "core-i7-6700", "--profile", "/nonexistent"], ["/nonexistent", "No such"]),
        (&["--machine", "core-i7-6700", "--output", "fit.docx"], ["fit.docx", ".html"]),
    ] {
        let output = kilocore(&[&["forecast", path], words].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(output.stdout.is_empty());
        for part in parts {
            assert!(message.contains(part), "{words:?}: no '{part}' in: {message}");
        }
    }
}

/// A curve on the small machine, quick to fit.
const SMALL: &[u8] = b"lock;cores;throughput;host\npthread;1;2.9e6;a\npthread;2;2.6e6;a\n\
    pthread;4;2.1e6;a\nmcs_spin;4;3.1e6;a\nticket;4;2.8e6;a\nhazelock;4;1;a\nmcs;32;5;a\n";

#[test]
fn the_same_input_gives_the_same_bytes_and_every_name_is_kept() {
    let path = file("fit-small.csv", SMALL);
    let path = path.to_str().expect("a plain path");
    let words = [
        "forecast",
        path,
        "--machine",
        "core-i7-6700",
        "--json",
        "--lock",
        "pthread,mcs,clh_spin,cna",
    ];
    let first = succeeds(&[&words[..], &["--cores", "4,8"]].concat());
    let again = succeeds(&[&words[..], &["--cores", "4,8"]].concat());
    assert_eq!(first.stdout, again.stdout);

    let notes = String::from_utf8_lossy(&first.stderr).into_owned();
    for part in ["variant hazelock", "--lock-of hazelock=LOCK", "mcs on 32 cores", "column host"] {
        assert!(notes.contains(part), "no '{part}' in: {notes}");
    }
    let document: Value = serde_json::from_slice(&first.stdout).expect("one document");
    let points = document["points"].as_array().expect("points");
    let named: Vec<(&str, Option<&str>)> = points
        .iter()
        .step_by(2)
        .map(|p| (p["lock"].as_str().expect("a name"), p["alias"].as_str()))
        .collect();
    let expected = [
        ("futex", Some("pthread")),
        ("mcs", Some("mcs_spin")),
        ("clh", Some("clh_spin")),
        ("cna", None),
    ];
    assert_eq!(named, expected);
    assert_eq!(points[0]["given"], 2.1e6);
    assert_eq!(points[1]["given"], Value::Null);
    for point in points {
        let figure = |key: &str| point[key].as_f64().expect("a figure");
        assert!(0.0 < figure("low") && figure("low") <= figure("throughput"), "{point}");
        assert!(figure("throughput") <= figure("high"), "{point}");
        assert_eq!(point["provenance"], "simulated");
    }
    assert_eq!(document["machine"], "core-i7-6700");
    assert_eq!(document["left_out"].as_array().map(Vec::len), Some(3));
    assert_eq!(document["recommendation"]["cores"], 8);
    // Only one lock was measured on more than one number of cores.
    assert_eq!(document["usl"].as_array().map(Vec::len), Some(1));
    assert!(document["pinned"].as_array().is_some_and(|pinned| pinned.len() > 3));
    let weight = |plausible: &Value| plausible["weight"].as_f64().expect("a weight");
    let weights: Vec<f64> =
        document["plausible"].as_array().expect("workloads").iter().map(weight).collect();
    assert!(weights.is_sorted_by(|a, b| a >= b) && !weights.is_empty(), "{weights:?}");
    assert!(document["residual"].as_f64().is_some_and(|residual| (0.0..3.0).contains(&residual)));
}

#[test]
fn reports_are_written_beside_the_table() {
    let path = file("fit-report.csv", SMALL);
    let path = path.to_str().expect("a plain path");
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fit-report.html");
    let words =
        ["forecast", path, "--machine", "core-i7-6700", "--lock", "mcs,ticket", "--cores", "1,4,8"];
    let output = succeeds(&[&words[..], &["--output", report.to_str().expect("plain")]].concat());
    let table = String::from_utf8(output.stdout).expect("text");
    for part in ["What the workload looks like", "mcs (mcs_spin)", "on 8", "scalability law"] {
        assert!(table.contains(part), "no '{part}' in: {table}");
    }
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let page = std::fs::read_to_string(report).expect("the report");
    assert!(page.contains("measured") && page.contains("mcs_spin on 4 cores"));
}

/// Points of a JSON document by lock and cores.
fn throughputs(document: &Value, key: &str) -> Vec<((String, u64), f64)> {
    let points = document["points"].as_array().expect("points");
    let place = |p: &Value| {
        (p["lock"].as_str().expect("a lock").to_owned(), p["cores"].as_u64().expect("cores"))
    };
    points.iter().map(|p| (place(p), p[key].as_f64().expect("a figure"))).collect()
}

/// A profile of a real program, as `kilocore record locks` wrote it.
const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles/kyotocabinet.json");

#[test]
fn a_profile_gives_what_need_not_be_searched() {
    let given = "lock,cores,throughput\npthread,1,10\npthread,2,14\npthread,4,15\nticket,4,17\n";
    let path = file("fit-with-profile.csv", given.as_bytes());
    let words = ["forecast", path.to_str().expect("plain"), "--profile", PROFILE];
    let machine = ["--machine", "core-i7-6700", "--lock", "mcs,futex", "--cores", "4,8"];
    let document = succeeds(&[&words[..], &machine, &["--json"]].concat());
    let document: Value = serde_json::from_slice(&document.stdout).expect("one document");
    let given = |parameter: &Value| parameter["given"] == true;
    let pinned = document["pinned"].as_array().expect("parameters");
    let names: Vec<&str> =
        pinned.iter().filter(|p| given(p)).filter_map(|p| p["parameter"].as_str()).collect();
    for known in ["think per hold", "locks"] {
        assert!(names.contains(&known), "{known} is in the profile: {pinned:?}");
    }
    assert!(!names.contains(&"hold (cycles)"), "{pinned:?}");
    let points = throughputs(&document, "throughput");
    assert_eq!(points.len(), 4);
    assert!(points.iter().all(|(_, throughput)| (1.0..1000.0).contains(throughput)), "{points:?}");

    let table = succeeds(&[&words[..], &machine].concat());
    let table = String::from_utf8(table.stdout).expect("text");
    assert!(
        table.lines().any(|l| l.starts_with("think per hold") && l.ends_with("given")),
        "{table}"
    );
}
