//! `kilocore record locks --count-lines`. Needs qemu-user and a C compiler with its static library.

use crate::common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{kilocore, refused};
use serde_json::Value;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Builds `turns.c`. Its functions are looked up before it takes a lock, or a first hold would use lines of
/// the loader's.
fn turns(name: &str, link: &str) -> PathBuf {
    let program = path(name);
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/measure_trace/turns.c");
    let built = Command::new("cc")
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,-z,now", link, "-o"])
        .arg(&program)
        .arg(source)
        .status()
        .expect("there is a compiler");
    assert!(built.success());
    program
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Traces a program; its profile goes into this file.
fn tracing(profile: &Path, command: &[&str]) -> Output {
    let words = ["record", "locks", "--recorder", "preload", "--count-lines", "--output"];
    kilocore(&[&words[..], &[text(profile), "--"], command].concat())
}

/// Traces a program and returns its profile, which goes into a file of this name.
fn traced(profile: &str, command: &[&str]) -> (Value, Output) {
    let profile = path(profile);
    let output = tracing(&profile, command);
    let document = fs::read(&profile).unwrap_or_else(|error| panic!("{error}: {}", said(&output)));
    (serde_json::from_slice(&document).expect("a document"), output)
}

const ROUNDS: u64 = 1_000;

/// Whether a figure is this, within a hundredth: where a thread inside the plugin loses its core for long, an
/// update goes unseen.
fn about(value: &Value, expected: f64) -> bool {
    (value.as_f64().expect("a number") - expected).abs() <= 0.01 * expected.max(1.0)
}

#[test]
fn a_lock_of_the_profile_has_the_lines_that_were_counted_and_forecasts_use_them() {
    let program = turns("trace-turns", "-pie");
    let (profile, output) = traced("trace-turns.json", &[text(&program), &ROUNDS.to_string()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("again under QEMU"), "{}", said(&output));
    let lock = &profile["runs"][0]["processes"][0]["locks"][0];
    let counted = &lock["traced"];
    assert_eq!(lock["acquisitions"], 2 * ROUNDS);
    assert!(about(&counted["acquisitions"], 2.0 * ROUNDS as f64), "{counted}");
    assert!(about(&counted["handovers"], 2.0 * ROUNDS as f64), "{counted}");
    assert_eq!((&counted["threads"], &counted["words"]), (&2.into(), &1.into()));
    assert!(
        about(&counted["lines_written"], 4.0) && about(&counted["lines_read"], 0.0),
        "{counted}"
    );
    let table = said(&output);
    assert!(table.contains("counted under QEMU") && table.contains("deposit"), "{table}");

    // The addresses of all four are known, so that they come at the same time.
    assert!(about(&counted["lines_in_turn"], 1.0), "{counted}");

    let lock = forecast("trace-turns.json", profile);
    assert!(about(&lock["lines_low"], 1.0) && about(&lock["lines_high"], 4.0), "{lock}");
    assert!(about(&lock["lines"], 1.3), "{lock}");
}

/// The lock of a profile that has one, as a forecast has it that calls it traced. The forecast is made as if
/// nobody had taken the cores from the program meanwhile: it might be refused otherwise.
fn forecast(name: &str, mut profile: Value) -> Value {
    let run = &mut profile["runs"][0];
    let busy_ns = run["processes"][0]["threads"]["cpu_ns"].as_f64().expect("a time");
    run["wall_ns"] = (busy_ns / 2.0).into();
    for told in ["outside", "interference", "cpu_ns"] {
        run.as_object_mut().expect("a run").remove(told);
    }
    let file = path(name);
    fs::write(&file, profile.to_string()).expect("written");
    let words = ["--machine", "opteron-6344-4s", "--cores", "1,2", "--lock", "futex", "--json"];
    let output = kilocore(&[&["forecast", text(&file)], &words[..]].concat());
    assert!(output.status.success(), "{}", said(&output));
    let forecast: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let assumptions = forecast["assumptions"].to_string();
    assert!(assumptions.contains("traced: counted in a run under QEMU"), "{assumptions}");
    assert_eq!(forecast["locks"][0]["lines_source"], "traced");
    forecast["locks"][0].clone()
}

#[test]
fn lines_that_are_chained_by_pointers_cost_a_transfer_each() {
    let program = turns("trace-chained", "-pie");
    let words = [text(&program), &ROUNDS.to_string(), "chained", "6"];
    let (profile, _) = traced("trace-chained.json", &words);
    let counted = &profile["runs"][0]["processes"][0]["locks"][0]["traced"];
    assert!(about(&counted["lines_written"], 6.0), "{counted}");
    assert!(about(&counted["lines_in_turn"], 6.0), "{counted}");
    assert!(about(&forecast("trace-chained.json", profile)["lines"], 6.0));
}

#[test]
fn a_word_that_is_no_lock_of_the_profile_is_listed() {
    let program = turns("trace-own", "-static");
    let words = [text(&program), &ROUNDS.to_string(), "own"];
    let (profile, output) = traced("trace-own.json", &words);
    // Nothing can be put under a static program, but its trace tells of its lock.
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("is linked statically"), "{}", said(&output));
    let listed = profile["trace"]["words"].as_array().expect("words");
    let handed_over = listed.iter().find(|word| word["handovers"].as_u64() > Some(0));
    let word = handed_over.expect("its own lock");
    assert!(about(&word["acquisitions"], 2.0 * ROUNDS as f64), "{word}");
    assert!(about(&word["handovers"], 2.0 * ROUNDS as f64), "{word}");
    assert!(about(&word["lines_written"], 4.0), "{word}");
    assert_eq!(word["site"][0]["function"], "withdraw", "{word}");
    assert!(word["site"][0]["line"].as_str().is_some_and(|line| line.contains("turns.c")));
    assert_eq!(profile["trace"]["words_left_out"], 0);
}

#[test]
fn a_trace_goes_with_a_second_run_and_keeps_off_the_programs_output() {
    let program = turns("trace-twice", "-pie");
    let words =
        ["record", "locks", "--json", "--recorder", "preload", "--twice", "--count-lines", "--"];
    let output = kilocore(&[&words[..], &[text(&program), "300"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let profile: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let cores = kilocore_process::allowed_cores().len();
    assert_eq!(profile["runs"].as_array().map(Vec::len), Some(cores.min(2)));
    let counted = &profile["runs"][0]["processes"][0]["locks"][0]["traced"];
    assert!((590..=599).contains(&counted["handovers"].as_u64().expect("a count")), "{counted}");

    // What it writes under QEMU is discarded, and its input is its own the first time only.
    let file = path("trace-cat.json");
    let output = tracing(&file, &["sh", "-c", "echo once"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.matches("once").count(), 1, "{printed}");
}

#[test]
fn forks_and_programs_that_take_the_place_of_others_are_said_not_to_be_traced() {
    let (profile, output) = traced("trace-fork.json", &["sh", "-c", "(true); exit 0"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("forked were not traced: there were 1"), "{}", said(&output));
    assert_eq!(profile["trace"]["forks"], 1);
    let (profile, output) = traced("trace-exec.json", &["sh", "-c", "exec /bin/true"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("executed /bin/true"), "{}", said(&output));
    assert_eq!(profile["trace"]["replaced_by"], "/bin/true");
}

#[test]
fn a_program_that_does_not_end_well_is_measured_and_not_traced() {
    let (profile, output) = traced("trace-killed.json", &["sh", "-c", "kill -KILL $$"]);
    assert_eq!(output.status.code(), Some(128 + 9), "{}", said(&output));
    assert!(said(&output).contains("not run again under QEMU"), "{}", said(&output));
    assert!(profile["trace"].is_null());
    let (profile, output) = traced("trace-failed.json", &["sh", "-c", "exit 3"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(profile["trace"].is_null());

    // The second time it kills itself.
    let marker = path("trace-marker");
    let _ = fs::remove_file(&marker);
    let script = format!("test -e {0} && kill -KILL $$; : > {0}", text(&marker));
    let (profile, output) = traced("trace-second.json", &["sh", "-c", &script]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("status 137 before it had told"), "{}", said(&output));
    assert!(profile["trace"].is_null());
}

#[test]
fn what_cannot_be_traced_is_refused_before_anything_runs() {
    let arm = path("trace-arm");
    let mut header = vec![0; 64];
    header[..8].copy_from_slice(b"\x7fELF\x02\x01\x01\0");
    (header[16], header[18]) = (2, 183);
    fs::write(&arm, header).expect("written");
    fs::set_permissions(&arm, fs::Permissions::from_mode(0o755)).expect("it is ours");
    refused(&["record", "locks", "--count-lines", "--", text(&arm)], &["Arm with 64 bits"]);
    refused(&["record", "locks", "--count-lines", "--pid", "1"], &["--count-lines", "--pid"]);

    let without = |variable: &str, value: &str, part: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_kilocore"))
            .args(["record", "locks", "--count-lines", "--", "/bin/echo", "said"])
            // Whoever runs this may have built a QEMU.
            .env("XDG_CACHE_HOME", text(&arm))
            .env(variable, value)
            .output()
            .expect("kilocore runs");
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(said(&output).contains(part), "{}", said(&output));
        assert!(output.stdout.is_empty(), "it was run");
    };
    without("PATH", "/nowhere", "qemu-x86_64 is not installed");
    without("KILOCORE_LIBRARY_DIR", "/nowhere", "libkilocore_numa_qemu.so is in none of");
}
