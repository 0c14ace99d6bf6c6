//! `kilocore-lab kernel` on few cores, and with paths of which the answer is known.

use serde_json::Value;

use crate::common::{file, lab, refused};

#[track_caller]
fn simulate(words: &[&str]) -> Value {
    let output = lab(&[&["kernel", "--json"], words].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

fn points(document: &Value) -> &[Value] {
    document["points"].as_array().expect("points")
}

fn rate(point: &Value) -> f64 {
    point["operations_per_s"].as_f64().expect("a rate")
}

#[test]
fn on_one_core_each_scheme_does_what_was_recorded() {
    let document = simulate(&["--path", "fork", "--cores", "1"]);
    assert_eq!(document["provenance"], "simulated");
    assert_eq!(document["operation"], "fork and exit");
    let recorded = include_str!("../paths/fork.path");
    let run = recorded.split("\nrun 1\n").next().and_then(|text| text.split("\nrun 0\n").nth(1));
    let of = |kind: &str| {
        run.expect("a run").lines().filter(|line| line.starts_with(kind)).count() as u64
    };
    for point in points(&document) {
        let operations = point["operations"].as_u64().unwrap();
        let each = |count: &str| point["trees"][count].as_u64().unwrap().div_ceil(operations);
        if point["scheme"] == "ldu" {
            assert_eq!((each("logged"), each("cancelled")), (of("i "), of("d ")), "{point}");
            assert_eq!((each("locked"), each("held")), (0, 0), "nobody looks: {point}");
        } else {
            assert!(each("locked") > 10 && each("logged") == 0, "{point}");
        }
        assert_eq!(point["idle"].as_f64().map(|share| share < 0.01), Some(true), "{point}");
    }
}

/// Two processors that compute, and do the rest of the steps.
fn path(name: &str, known: &str, steps: &str) -> String {
    let text = format!(
        "kilocore-kernel-path 1\noperation it\nkernel k\nmachine 2 1\n{known}\nrun 0\nc 1000\n{steps}\nrun 1\nc 1000\n{steps}\n"
    );
    file(name, text.as_bytes()).display().to_string()
}

const MACHINE: [&str; 4] = ["--machine", "opteron-6344-4s", "--scheme", "stock"];
/// Its clock, in cycles a second.
const CLOCK: f64 = 2.6e9;

#[test]
fn a_lock_that_is_held_half_of_the_time_bounds_throughput() {
    let path = path("half.path", "lock 3 spin it", "a 0\nc 1000\nr 0");
    let document = simulate(&[&["--path", &path, "--cores", "1,12"], &MACHINE[..]].concat());
    let [one, twelve] = points(&document) else { panic!("two points") };
    assert!((rate(one) / (CLOCK / 2000.0) - 1.0).abs() < 0.05, "{one}");
    assert!(rate(twelve) < CLOCK / 950.0, "one at a time: {twelve}");
    assert!(rate(twelve) > 0.6 * CLOCK / 1000.0, "{twelve}");
    assert_eq!(twelve["limiters"][0]["name"], "it");
    assert_eq!(twelve["limiters"][0]["is_lock"], true);
    assert!(twelve["limiters"][0]["share"].as_f64().unwrap() > 0.5, "{twelve}");
}

#[test]
fn a_line_that_each_core_has_alone_costs_nothing() {
    // Four processors on two nodes, of which each two of a node share a line.
    let steps = |line: u32| format!("c 1000\nt {line} u\nc 1000\nt {line} u\n");
    let text = format!(
        "kilocore-kernel-path 1\noperation it\nkernel k\nmachine 4 2\nline 3 near\nline c far\n\
         run 0\n{near}run 1\n{near}run 2\n{far}run 3\n{far}",
        near = steps(0),
        far = steps(1),
    );
    let near = file("near.path", text.as_bytes()).display().to_string();
    let document = simulate(&[&["--path", &near, "--cores", "6,48"], &MACHINE[..]].concat());
    let [node, machine] = points(&document) else { panic!("two points") };
    let ratio = rate(machine) / rate(node);
    assert!((7.5..8.5).contains(&ratio), "each node has a line of its own: {ratio}");
    let shared = path("shared.path", "line 3 it", "t 0 u\nc 1000\nt 0 u");
    let document = simulate(&[&["--path", &shared, "--cores", "6,48"], &MACHINE[..]].concat());
    let [node, machine] = points(&document) else { panic!("two points") };
    let ratio = rate(machine) / rate(node);
    assert!(ratio < 4.0, "all have one line, and nodes are far from each other: {ratio}");
}

#[test]
fn published_levels_stand_beside_the_stock_kernel() {
    let document = simulate(&["--beside", "aim7", "--cores", "15", "--scheme", "stock"]);
    let levels = document["published"]["levels"].as_array().unwrap();
    let level = levels[0]["per_s"].as_f64().unwrap();
    // 616,000 jobs a minute on 60 cores, 2.75 forks each.
    assert!((level / (616_000.0 / 60.0 / 4.0 * 2.75) - 1.0).abs() < 1e-6, "{level}");
    let ratio = rate(&points(&document)[0]) / level;
    assert!((0.5..2.0).contains(&ratio), "stock over published: {ratio}");
}

#[test]
fn bad_input_is_refused() {
    let broken = path("broken.path", "lock 3 spin it", "a 0");
    for (words, parts) in [
        (&["--path", "forks"][..], &["forks", "fork"][..]),
        (&["--path", "./nosuch.path"], &["./nosuch.path", "No such file"]),
        (
            &["--path", &broken],
            &["broken.path", "line 9", "with lock 0 held", "linux/paths/record"],
        ),
        (&["--path", "/dev/null"], &["/dev/null", "line 1", "no recording"]),
        (&["--scheme", "log"], &["log", "ldu"]),
        (&["--between", "-1"], &["-1"]),
        (&["--between", "5", "--beside", "aim7"], &["--between", "--beside"]),
        (&["--beside", "exim"], &["exim", "choose aim7 or lmbench-fork"]),
        (&["--cycles-per-instruction", "0"], &["0.1"]),
        (&["--cores", "121"], &["121", "120"]),
    ] {
        refused(&[&["kernel"], words].concat(), parts);
    }
}
