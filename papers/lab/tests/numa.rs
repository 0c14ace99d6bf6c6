//! `kilocore-lab numa`, in the programs' small sizes.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::lab;
use serde_json::Value;

const SMALL: [&str; 6] = ["--size", "small", "--initial-delay", "10,300", "--cores", "8"];

fn numa<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["numa"], words].concat()
}

#[track_caller]
fn run(words: &[&str]) -> String {
    let output = lab(&numa(words));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn document(words: &[&str]) -> Value {
    serde_json::from_str(&run(&[words, &["--json"]].concat())).expect("one JSON document")
}

#[track_caller]
fn refused(words: &[&str], expected: &str) {
    let output = lab(&numa(words));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(expected), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn each_program_has_a_point_for_each_policy_and_delay() {
    let words = ["--copying", "fixed,adjustable,balanced,optimum"];
    let document = document(&[&SMALL[..], &words].concat());
    assert_eq!(document["provenance"], "simulated");
    assert_eq!((document["cpus"].as_u64(), document["nodes"].as_u64()), (Some(8), Some(8)));
    let points = document["points"].as_array().expect("points");
    // Two policies with two delays, and two without.
    assert_eq!(points.len(), 4 * (2 * 2 + 2));
    for point in points {
        assert!(point["namc"].as_f64().expect("a number") >= 1.0, "{point}");
        let has_delay = ["fixed", "adjustable"].contains(&point["policy"].as_str().expect("text"));
        assert_eq!(point["delay"].is_u64(), has_delay, "{point}");
        for key in ["replications", "updates"] {
            assert!(point[key].is_u64(), "{point}");
        }
    }
    let published = document["published"]["programs"].as_array().expect("claims");
    assert_eq!(published.len(), 4);
    for parameter in document["parameters"].as_array().expect("parameters") {
        for key in ["name", "value", "source"] {
            assert!(!parameter[key].as_str().expect("text").is_empty(), "{parameter}");
        }
    }
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    let policies = ["--copying", "adjustable,carrefour,balanced", "--tlb", "4", "--json"];
    for program in ["radix", "mp3d"] {
        let words = [&["--program", program][..], &SMALL, &policies].concat();
        let once = run(&words);
        assert_eq!(once, run(&words));
        assert_ne!(once, run(&[&words[..], &["--seed", "2"]].concat()));
    }
}

#[test]
fn made_up_references_have_the_shares_asked_for() {
    let document = document(&["--synthetic", "40,10,45,5", "--copying", "never", "--cores", "4"]);
    let counts = &document["points"][0]["counts"];
    let count = |kind: &str| counts[kind].as_f64().expect("a number");
    let kinds = ["private_reads", "private_writes", "shared_reads", "shared_writes"];
    let total: f64 = kinds.iter().map(|kind| count(kind)).sum();
    for (kind, share) in kinds.into_iter().zip([0.40, 0.10, 0.45, 0.05]) {
        assert!((count(kind) / total - share).abs() < 0.002, "{kind}: {}", count(kind) / total);
    }
}

#[test]
fn pages_that_are_read_by_all_are_copied_and_cost_less() {
    let words =
        ["--synthetic", "0,0,100,0", "--copying", "never,fixed,balanced", "--initial-delay", "10"];
    let document = document(&[&words[..], &["--cores", "8"]].concat());
    let namc = |index: usize| document["points"][index]["namc"].as_f64().expect("a number");
    let (never, fixed, balanced) = (namc(0), namc(1), namc(2));
    assert!(never > 15.0, "seven of eight reads are remote: {never}");
    assert!(fixed < 1.5 && balanced < 1.5, "{fixed} {balanced}");
}

#[test]
fn a_machine_of_today_has_its_own_costs_and_nodes() {
    let words =
        ["--machine", "xeon-8375c-2s", "--cores", "8", "--nodes", "2", "--program", "radix"];
    let document = document(&[&words[..], &["--size", "small", "--copying", "never"]].concat());
    assert_eq!(document["machine"], "xeon-8375c-2s");
    assert_eq!(document["nodes"], 2);
}

#[test]
fn results_are_written_in_every_format() {
    let path = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let files: Vec<PathBuf> =
        ["numa.html", "numa.svg", "numa.csv", "numa.json"].map(path).into_iter().collect();
    let mut words =
        [&["--program", "cholesky", "--copying", "fixed,balanced"][..], &SMALL].concat();
    for file in &files {
        words.extend(["--output", file.to_str().expect("text")]);
    }
    run(&words);
    let texts: Vec<String> =
        files.iter().map(|file| fs::read_to_string(file).expect("written")).collect();
    assert!(texts[0].contains("<svg") && texts[0].contains("cholesky"));
    assert!(texts[1].contains("initial delay"));
    assert_eq!(texts[2].lines().count(), 1 + 3, "a heading, two delays and balanced");
    serde_json::from_str::<Value>(&texts[3]).expect("JSON");
}

/// The machine file whose cores are used has 48.
#[test]
fn there_may_be_64_processors() {
    let words = ["--program", "radix", "--size", "small", "--copying", "never"];
    for cpus in ["1", "48", "49", "64"] {
        let document = document(&[&words[..], &["--cores", cpus]].concat());
        assert_eq!(document["points"].as_array().map(Vec::len), Some(1), "{cpus}: {document}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    refused(&["--cores", "0"], "choose 1 to 64");
    refused(&["--cores", "65"], "choose 1 to 64");
    refused(&["--cores", "6", "--nodes", "4"], "divides them");
    refused(&["--cores", "6", "--nodes", "0"], "divides them");
    refused(&["--initial-delay", "0"], "not a delay");
    refused(&["--initial-delay", "1,x"], "not a delay");
    refused(&["--page", "100"], "power of two");
    refused(&["--copying", "sometimes"], "adjustable");
    refused(&["--program", "ocean"], "radix");
    refused(&["--machine", "nowhere"], "nowhere");
    refused(&["--synthetic", "1,2,3"], "four numbers");
    refused(&["--synthetic", "1,2,3,4", "--program", "radix"], "--program");
    refused(&["--counter-bits", "13"], "--tlb");
    refused(&["--output", "/nowhere/numa.csv", "--size", "small"], "/nowhere");
    refused(&["--output", "numa.png"], "numa.png");
}
