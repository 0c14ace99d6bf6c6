//! Profiles that were recorded once, of each planted bottleneck, in each format and in all pairs
//! of formats.
//!
//! They are of `planted.c` on one thread and core and on two, recorded by `perf record -F 997
//! --call-graph dwarf,2048` and printed by `perf script --no-inline`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::formats::{FORMATS, HERTZ, read, written};
use super::planted::{KINDS, assert_found, assert_nothing};
use crate::common::{file, kilocore};

/// The units of work of the recordings.
fn units(kind: &str) -> &'static str {
    if kind == "syscall" { "24000" } else { "60000" }
}

fn golden(kind: &str, threads: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/locate/golden/{kind}.{threads}.script.gz"))
}

/// The recordings of one kind in all formats.
fn in_all_formats(kind: &str, threads: u32, folder: &TempDir) -> Vec<PathBuf> {
    let recorded = golden(kind, threads);
    let profile = read(&recorded);
    let write = |format: &&str| {
        if **format == *"script.gz" {
            return recorded.clone();
        }
        let path = folder.path().join(format!("{kind}.{threads}.{format}"));
        fs::write(&path, written(&profile, format)).expect("a file of the test's own");
        path
    };
    FORMATS.iter().map(write).collect()
}

fn answer(kind: &str, base: &Path, scaled: &Path, more: &[&str]) -> Value {
    let (base, scaled) = (base.display().to_string(), scaled.display().to_string());
    let work = units(kind);
    let mut words = vec![
        "compare",
        &base,
        &scaled,
        "--json",
        "--base-cores=1",
        "--scaled-cores=2",
        "--base-work",
        work,
        "--scaled-work",
        work,
    ];
    words.extend(more);
    let output = kilocore(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

#[test]
fn each_planted_function_is_first_in_each_format() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    for kind in KINDS {
        let base = in_all_formats(kind, 1, &folder);
        let scaled = in_all_formats(kind, 2, &folder);
        for base in &base {
            for scaled in &scaled {
                let mut more = Vec::new();
                for (path, option) in [(base, "--base-frequency"), (scaled, "--scaled-frequency")] {
                    if path.extension().is_some_and(|ending| ending == "folded") {
                        more.extend([option, HERTZ]);
                    }
                }
                let how = format!("{} against {}", scaled.display(), base.display());
                assert_found(&answer(kind, base, scaled, &more), kind, &how);
            }
        }
    }
}

/// Where the planted function does its work itself, it is first by its own time as well.
#[test]
fn by_their_own_time_the_planted_functions_are_first_too() {
    for kind in ["lock", "counter", "scan"] {
        let answer = answer(kind, &golden(kind, 1), &golden(kind, 2), &[]);
        assert_eq!(answer["functions"][0]["name"], format!("planted_{kind}").as_str());
    }
    let copy = answer("copy", &golden("copy", 1), &golden("copy", 2), &[]);
    assert_eq!(copy["functions"][0]["name"], "__memmove_avx512_unaligned_erms");
    assert_eq!(copy["functions"][0]["owner"], "library");
    let syscall = answer("syscall", &golden("syscall", 1), &golden("syscall", 2), &[]);
    assert_eq!(syscall["functions"][0]["owner"], "kernel");
}

#[test]
fn where_nothing_is_planted_nothing_stands_out() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let base = in_all_formats("none", 1, &folder);
    let scaled = in_all_formats("none", 2, &folder);
    for ((base, scaled), format) in base.iter().zip(&scaled).zip(FORMATS) {
        assert_nothing(&answer("none", base, scaled, &[]), format);
        assert_nothing(&answer("none", base, base, &[]), format);
    }
}

#[test]
fn a_loss_in_locks_points_at_the_doctor() {
    let of = |name: &str, locked: u64| {
        let text = format!("main;serve 5000\nmain;serve;pthread_mutex_lock {locked}\n");
        file(name, text.as_bytes()).display().to_string()
    };
    let (base, scaled) = (of("free.folded", 50), of("locked.folded", 5000));
    let output = kilocore(&["compare", &base, &scaled]);
    let shown = String::from_utf8(output.stdout).expect("text");
    assert!(shown.contains("kilocore doctor -- COMMAND"), "{shown}");
    assert!(shown.contains("assumed that every run did the same work"), "{shown}");
    let shown = String::from_utf8(kilocore(&["compare", &base, &base]).stdout).expect("text");
    assert!(!shown.contains("doctor"), "{shown}");
}

/// Everything that `--output` can write, of one comparison.
#[test]
fn reports_are_written_whole() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (html, svg, csv) = (at("a.html"), at("a.svg"), at("a.csv"));
    let (json, folded) = (at("a.json"), at("a.folded"));
    let [html_to, svg_to, csv_to] = [&html, &svg, &csv].map(|path| format!("--output={path}"));
    let [json_to, folded_to] = [&json, &folded].map(|path| format!("--output={path}"));
    let more = [&*html_to, &svg_to, &csv_to, &json_to, &folded_to];
    let printed = answer("lock", &golden("lock", 1), &golden("lock", 2), &more);
    let text = |path: &str| fs::read_to_string(path).expect("written");
    assert_eq!(serde_json::from_str::<Value>(&text(&json)).expect("a document"), printed);
    assert!(text(&html).contains("planted_lock"));
    let drawn = text(&svg);
    roxmltree::Document::parse(&drawn).expect("well-formed");
    assert!(text(&csv).lines().nth(1).expect("a row").contains("planted_lock"));
    let scaled: u64 = text(&folded)
        .lines()
        .map(|line| line.rsplit(' ').next().expect("a number").parse::<u64>().expect("a number"))
        .sum();
    assert_eq!(Some(scaled), printed["scaled"]["weight"].as_u64());
}
