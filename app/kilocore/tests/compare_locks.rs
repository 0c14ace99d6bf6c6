//! Two lock profiles, compared: what is said, and the exit status.

use crate::common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{kilocore, refused};
use serde_json::{Value, json};

/// A profile of so many rounds on one core and on two, which take these seconds, with a lock that was acquired so
/// often.
fn profile(rounds: u32, [one, two]: [f64; 2], acquired: u64) -> Value {
    let run = |round: u32, cores: u32, seconds: f64| {
        let wall_ns = seconds * (1.0 + 0.004 * f64::from(round)) * 1e9;
        json!({"round": round, "cores": cores, "wall_ns": wall_ns, "cpu_ns": wall_ns, "work": 1.0,
            "interference": {"others_ns": 0.0, "stolen_ns": 0.0}})
    };
    let runs: Vec<Value> =
        (0..rounds).flat_map(|round| [run(round, 1, one), run(round, 2, two)]).collect();
    let text = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles/sqlite.json"));
    let mut profile: Value =
        serde_json::from_slice(&text.expect("it is there")).expect("a profile");
    profile["scaling"] = json!({"unit": "run", "runs": runs});
    profile["host"]["cores"] = 2.into();
    let run = &mut profile["runs"][0];
    run["exit_status"] = 0.into();
    run["cpu_ns"] = (two * 1e9).into();
    run.as_object_mut().expect("a run").remove("limit");
    run["processes"][0]["locks"][0]["acquisitions"] = acquired.into();
    profile
}

fn written(name: &str, profile: &Value) -> PathBuf {
    common::file(&format!("compare-{name}.json"), profile.to_string().as_bytes())
}

/// The exit status of a comparison in which five hundredths are allowed, and what is printed.
fn compared(before: &Path, after: &Path) -> (Option<i32>, String) {
    let [before, after] = [before, after].map(|path| path.to_str().expect("text"));
    let output = kilocore(&["compare", "--fail-if-slower", "5%", before, after]);
    let text = String::from_utf8(output.stdout).expect("text");
    (output.status.code(), text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn the_status_says_whether_it_has_become_slower() {
    let before = written("before", &profile(3, [2.3, 1.27], 1_000_000));
    let slower = written("slower", &profile(3, [2.3, 1.57], 9_000_000));
    let (status, text) = compared(&before, &slower);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("has become slower by more than 5.0 %: a run takes 1.23 to 1.25 times as long on 2 cores."), "{text}");
    assert!(text.contains("→ 9.00 M"), "its locks are shown: {text}");
    let (status, text) = compared(&slower, &before);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("has not become slower by more than 5.0 %"), "{text}");
    assert_eq!(compared(&before, &before).0, Some(0));
    // Where it is not asked, nothing fails.
    let plain = kilocore(&["compare", before.to_str().unwrap(), slower.to_str().unwrap()]);
    assert!(plain.status.success());
    assert!(String::from_utf8_lossy(&plain.stdout).contains("has become slower on 2 cores."));
}

#[test]
fn what_runs_cannot_tell_is_no_pass() {
    let before = written("known", &profile(3, [2.3, 1.27], 1_000_000));
    let near = written("near", &profile(3, [2.3, 1.33], 1_000_000));
    let (status, text) = compared(&before, &near);
    assert_eq!(status, Some(3), "{text}");
    assert!(
        text.contains("cannot tell") && text.contains("not become slower by more than 5.6 %"),
        "{text}"
    );
    let few = written("few", &profile(2, [2.3, 1.57], 1_000_000));
    let (status, text) = compared(&before, &few);
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("after there are 2 quiet rounds, and 3 are needed"), "{text}");
    let mut other = profile(3, [2.3, 1.27], 1_000_000);
    other["command"] = json!(["another", "program"]);
    other.as_object_mut().unwrap().remove("scaling");
    let (status, text) = compared(&before, &written("other", &other));
    assert_eq!(status, Some(3), "{text}");
    assert!(text.contains("The commands differ") && text.contains("has no timed runs"), "{text}");
}

#[test]
fn reports_have_the_verdict_and_every_figure() {
    let before = written("one", &profile(3, [2.3, 1.27], 1_000_000));
    let after = written("two", &profile(3, [2.3, 1.57], 9_000_000));
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["html", "svg", "csv", "json", "md"]
        .map(|ending| folder.path().join("change").with_extension(ending));
    let mut words = vec![
        "compare",
        "--json",
        "--fail-if-slower",
        "5",
        before.to_str().unwrap(),
        after.to_str().unwrap(),
    ];
    for file in &files {
        words.extend(["--output", file.to_str().unwrap()]);
    }
    let output = kilocore(&words);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!((&document["verdict"], &document["doubts"]), (&json!("slower"), &json!([])));
    assert_eq!(document["paces"].as_array().map(Vec::len), Some(2));
    assert!(document["locks"].as_array().is_some_and(|locks| !locks.is_empty()));
    for file in &files {
        assert!(file.metadata().is_ok_and(|file| file.len() > 200), "{}", file.display());
    }
    let rows = fs::read_to_string(&files[2]).expect("a file");
    assert_eq!(rows.lines().count(), 3, "{rows}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let profile = written("fits", &profile(3, [2.3, 1.27], 1));
    let profile = profile.to_str().unwrap();
    refused(&["compare", profile, profile, "--least", "3"], &["--least goes with a saved run"]);
    refused(&["compare", profile, profile, "--fail-if-slower", "fast"], &["'fast'", "0 to 1000"]);
    let machine = common::file("compare.toml", b"schema = 1\nclock_ghz.value = 2\n");
    let machine = machine.to_str().unwrap();
    refused(&["compare", profile, machine], &["a lock profile", "name two of a kind"]);
    refused(&["compare", machine, machine, "--fail-if-slower", "5"], &["goes with a lock profile"]);
}
