//! `kilocore-lab sched`, with few cores and windows.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{lab, refused};

const SMALL: [&str; 8] =
    ["--workload", "mmapbench", "--kernel-lock", "spin,mutex", "--cores", "1,3", "--windows", "5"];

fn sched<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["sched", "--experiment", "locks"], words].concat()
}

#[track_caller]
fn run(words: &[&str]) -> String {
    let output = lab(&sched(words));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn document(words: &[&str]) -> Value {
    serde_json::from_str(&run(&[words, &["--json"]].concat())).expect("one JSON document")
}

#[test]
fn each_lock_and_policy_has_a_point_for_each_number_of_cores() {
    let document = document(&[&SMALL[..], &["--scheduler", "fair,best-static"]].concat());
    assert_eq!(document["provenance"], "simulated");
    assert_eq!(document["machine"], "opteron-8356-8s");
    let points = document["points"].as_array().expect("points");
    let mut order = Vec::new();
    for point in points {
        let text = |key: &str| point[key].as_str().expect("text").to_owned();
        assert_eq!(text("load"), "mmapbench");
        order.push((text("lock"), text("policy"), point["cores"].as_u64().expect("a number")));
        for key in ["throughput", "speedup", "fairness", "joules", "waiting"] {
            assert!(point[key].as_f64().expect("a number") >= 0.0, "{point}");
        }
        assert_eq!(point["k"].is_u64(), point["policy"] == "best-static", "{point}");
    }
    let mut expected = Vec::new();
    for lock in ["spin", "mutex"] {
        for policy in ["fair", "best-static"] {
            for cores in [1, 3] {
                expected.push((lock.to_owned(), policy.to_owned(), cores));
            }
        }
    }
    assert_eq!(order, expected);
    assert_eq!(points[0]["speedup"], 1.0);
    for parameter in document["loads"][0]["parameters"].as_array().expect("parameters") {
        for key in ["name", "value", "source"] {
            assert!(!parameter[key].as_str().expect("text").is_empty(), "{parameter}");
        }
    }
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    let words =
        ["--workload", "sockbench", "--kernel-lock", "adaptive", "--cores", "5", "--windows", "5"];
    let words = [&words[..], &["--scheduler", "lock-aware", "--noise", "20", "--json"]].concat();
    let once = run(&words);
    assert_eq!(once, run(&words));
    assert_ne!(once, run(&[&words[..], &["--seed", "2"]].concat()));
    assert_ne!(once, run(&[&words[..], &["--window-us", "900"]].concat()));
}

#[test]
fn results_go_into_files_by_their_endings() {
    let file = |name: &str| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        path.to_str().expect("an ordinary name").to_owned()
    };
    let files = ["html", "svg", "csv", "json"].map(|ending| file(&format!("sched.{ending}")));
    let mut words = SMALL.to_vec();
    for file in &files {
        words.extend(["--output", file]);
    }
    let said = run(&words);
    assert!(said.contains("speed-up under lock-aware") && said.contains("shape only"), "{said}");
    let [html, svg, csv, json] =
        files.map(|file| fs::read_to_string(file).expect("it was written"));
    assert!(html.contains("i_mmap_lock") && html.contains("estimated, shape only"));
    assert!(svg.contains("<svg") && svg.contains("mmapbench"));
    // A title, and two locks under two policies on two numbers of cores.
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 2);
    let json: Value = serde_json::from_str(&json).expect("one JSON document");
    assert_eq!(json["points"].as_array().map(Vec::len), Some(8));
}

#[test]
fn each_mix_and_policy_has_a_point_with_its_tasks() {
    let words = ["sched", "--experiment", "cache", "--mix", "light,uncorrelated"];
    let short = ["--seconds", "1", "--orders", "1", "--scheduler", "fair,optimum", "--json"];
    let output = lab(&[&words[..], &short].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    assert_eq!((&document["machine"], &document["cores"]), (&"xeon-e5345-2s".into(), &8.into()));
    let points = document["points"].as_array().expect("points");
    let order: Vec<(&str, &str)> = points
        .iter()
        .map(|point| (point["mix"].as_str().unwrap(), point["policy"].as_str().unwrap()))
        .collect();
    let expected = ["light", "uncorrelated"].map(|mix| [(mix, "fair"), (mix, "optimum")]).concat();
    assert_eq!(order, expected);
    for point in points {
        assert_eq!(point["tasks"].as_array().map(Vec::len), Some(16));
        for key in ["throughput", "fairness", "joules"] {
            assert!(point[key].as_f64().expect("a number") > 0.0, "{point}");
        }
    }
    assert_eq!(document["metrics"]["metrics"].as_array().map(Vec::len), Some(6));
}

#[test]
fn what_is_for_the_other_experiment_is_refused() {
    let cache = ["sched", "--experiment", "cache"];
    let cache = |words: &[&'static str]| [&cache[..], words].concat();
    refused(&cache(&["--mix", "heavi"]), &["no mix 'heavi'", "uncorrelated"]);
    refused(&cache(&["--scheduler", "best-static"]), &["--experiment locks", "optimum"]);
    refused(&cache(&["--workload", "mmapbench"]), &["--experiment locks", "--mix"]);
    refused(&cache(&["--cores", "6"]), &["no optimum", "6 cores"]);
    refused(&cache(&["--cores", "1,2"]), &["one number"]);
    refused(&sched(&["--scheduler", "optimum"]), &["--experiment cache", "best-static"]);
    refused(&sched(&["--mix", "heavy"]), &["--experiment cache", "--workload"]);
}

#[test]
fn what_cannot_be_is_refused_with_a_mend() {
    refused(&sched(&["--workload", "forkbench"]), &["no load 'forkbench'", "parallel-find"]);
    refused(&sched(&["--scheduler", "best"]), &["no policy 'best'", "confined=N", "best-static"]);
    refused(&sched(&["--kernel-lock", "mcs"]), &["no kernel lock 'mcs'", "requester"]);
    refused(&sched(&["--cores", "33"]), &["32 hardware threads", "choose 1 to 32"]);
    refused(&sched(&["--noise", "101"]), &["0..=100"]);
    refused(&sched(&["--window-us", "0"]), &["10..=1000000"]);
    refused(&sched(&["--machine", "nothing"]), &["nothing"]);
    refused(&sched(&["--output", "points.txt"]), &["points.txt"]);
}
