//! `kilocore forecast` on programs with read-write locks: these are a second choice beside the mutex.

use std::process::Command;

use serde_json::Value;

fn predicted(profile: &str, words: &[&str]) -> Vec<u8> {
    let path = format!("{}/../../data/profiles/{profile}.json", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["forecast", &path, "--machine", "opteron-6344-4s", "--cores", "1,24"])
        .args(words)
        .output()
        .expect("kilocore runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn document(profile: &str, words: &[&str]) -> Value {
    serde_json::from_slice(&predicted(profile, words)).expect("one JSON document")
}

/// The throughput at the largest number of cores, by lock.
fn ends(document: &Value) -> Vec<(&str, f64)> {
    let curves = document["curves"].as_array().expect("curves");
    let end = |curve: &Value| {
        curve["points"].as_array().unwrap().last().unwrap()["throughput_per_s"].as_f64()
    };
    curves
        .iter()
        .map(|curve| (curve["lock"].as_str().unwrap(), end(curve).expect("a rate")))
        .collect()
}

#[test]
fn a_read_write_lock_is_recommended_with_the_gain_that_its_curve_shows() {
    let words = ["--lock", "futex", "--rwlock", "writer-first,phase-fair", "--json"];
    let forecast = document("kyotocabinet", &words);
    let ends = ends(&forecast);
    let names: Vec<&str> = ends.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["futex", "writer-first", "phase-fair"]);
    let advice = &forecast["recommendation"];
    assert_eq!(advice["verdict"], "limited-by-locks");
    let best = advice["rwlock"].as_str().expect("one helps this program");
    let end = |name| ends.iter().find(|(lock, _)| *lock == name).expect("a curve of it").1;
    let gain = advice["rwlock_gain"].as_f64().unwrap();
    assert!((gain - end(best) / end("futex")).abs() < 1e-9, "{advice}");
    assert!(gain > 1.15, "{advice}");
    let command = advice["command"].as_str().unwrap();
    assert!(command.starts_with(&format!("kilocore run --rwlock {best} -- ")), "{command}");
    // Errors of other mutexes say nothing of it.
    assert!(advice["gain_error"].is_null() && advice["lock"].is_null(), "{advice}");
}

#[test]
fn the_table_marks_the_read_write_lock_that_the_command_names() {
    let words = ["--lock", "futex", "--rwlock", "writer-first"];
    let text = String::from_utf8(predicted("kyotocabinet", &words)).unwrap();
    assert!(text.contains("    kilocore run --rwlock writer-first -- "), "{text}");
    assert!(text.lines().any(|line| line.starts_with("writer-first ●")), "{text}");
    assert!(text.lines().any(|line| line.starts_with("futex ○")), "{text}");
    assert!(text.contains("is not known: try it"), "{text}");
}

#[test]
fn where_the_program_has_none_they_change_nothing() {
    let without = predicted("rocksdb", &["--lock", "futex,mcs", "--rwlock", "phase-fair"]);
    let with = predicted("rocksdb", &["--lock", "futex,mcs"]);
    assert!(without == with && !with.is_empty());
    assert!(!String::from_utf8(with).unwrap().contains("read-write"));
}
